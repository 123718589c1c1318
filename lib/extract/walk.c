/* SPDX-License-Identifier: BSD-2-Clause */
/* Jobs of a walk, the threads that do them, and the stream around them. */
#include "extract/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "extract/live.h"
#include "extract/walkjobs.h"

struct dp_walk *
dp_walk_create(const struct dp_walk_opts *opts)
{
	struct dp_walk *w = calloc(1, sizeof *w);

	if (w == NULL)
		return NULL;
	w->opts = *opts;
	dp_queue_init(&w->queue, (struct dp_sink){ 0 }, dp_walk_free_job);
	return w;
}

void
dp_walk_destroy(struct dp_walk *w)
{
	if (w == NULL)
		return;
	dp_queue_deinit(&w->queue);
	dp_mounts_deinit(&w->mounts);
	free(w);
}

static bool
add(struct dp_walk *w, enum dp_walk_kind kind, const char *name, int fd,
    struct dp_err *e)
{
	struct dp_walk_job *job = dp_walk_job_create(kind, dp_cstr(name));

	if (job == NULL)
		return dp_err_set(e, DP_ENOMEM, DP_NOOFF, "out of memory");
	job->fd = fd;
	dp_queue_put(&w->queue, NULL, &job->job);
	return true;
}

bool
dp_walk_add_path(struct dp_walk *w, const char *path, struct dp_err *e)
{
	return add(w, DP_WALK_PATH, path, -1, e);
}

bool
dp_walk_add_list(struct dp_walk *w, int fd, const char *name, struct dp_err *e)
{
	return add(w, DP_WALK_LIST, name, fd, e);
}

bool
dp_walk_add_fd(struct dp_walk *w, int fd, const char *name, struct dp_err *e)
{
	return add(w, DP_WALK_FD, name, fd, e);
}

bool
dp_walk_add_error(struct dp_walk *w, const char *name,
                  const struct dp_err *what, struct dp_err *e)
{
	struct dp_walk_job *job =
		dp_walk_job_create(DP_WALK_ERROR, dp_cstr(name));

	if (job != NULL)
		job->what = malloc(sizeof *job->what);
	if (job == NULL || job->what == NULL) {
		if (job != NULL)
			dp_walk_free_job(&job->job);
		return dp_err_set(e, DP_ENOMEM, DP_NOOFF, "out of memory");
	}
	*job->what = *what;
	dp_queue_put(&w->queue, NULL, &job->job);
	return true;
}

bool
dp_walk_add_live(struct dp_walk *w, const struct dp_live_set *set,
                 struct dp_err *e)
{
	w->live = set;
	return add(w, DP_WALK_LIVE, "", -1, e);
}

/* A worker's output goes to the job that it is doing. */
static bool
worker_sink(void *ctx, struct dp_bytes b, struct dp_err *e)
{
	struct dp_worker *wk = ctx;

	return dp_queue_write(&wk->walk->queue, &wk->job->job, b, e);
}

static void
work(struct dp_worker *wk)
{
	struct dp_queue *q = &wk->walk->queue;
	struct dp_job *job;

	while ((job = dp_queue_take(q)) != NULL) {
		struct dp_err e = DP_ERR_INIT;

		wk->job = (struct dp_walk_job *)job; /* its first member */
		if (!dp_walk_do(wk, &e) || !dp_writer_flush(&wk->out, &e))
			dp_queue_stop(q, &e);
		dp_queue_done(q, job);
	}
}

static void *
thread_main(void *arg)
{
	work(arg);
	return NULL;
}

static bool
worker_init(struct dp_worker *wk, struct dp_walk *w)
{
	wk->walk = w;
	dp_writer_init(&wk->out, (struct dp_sink){ worker_sink, wk },
	               w->opts.json);
	wk->x = dp_extractor_create(&w->opts.extract, &wk->out);
	return wk->x != NULL;
}

static void
worker_deinit(struct dp_worker *wk)
{
	dp_extractor_destroy(wk->x);
	dp_writer_deinit(&wk->out);
	dp_walk_batch_deinit(&wk->batch);
	dp_buf_deinit(&wk->path);
}

/* Run the workers; the calling thread is one of them. */
static bool
run_workers(struct dp_walk *w, struct dp_worker *wk, struct dp_err *e)
{
	unsigned n = 0;
	bool ok = true;

	for (unsigned i = 0; i < w->opts.threads && ok; i++)
		ok = worker_init(&wk[i], w);
	if (!ok)
		return dp_err_set(e, DP_ENOMEM, DP_NOOFF, "out of memory");
	for (n = 1; n < w->opts.threads; n++) {
		int err = pthread_create(&wk[n].thread, NULL, thread_main,
		                         &wk[n]);

		if (err != 0) /* fewer do it, too */
			break;
	}
	work(&wk[0]);
	while (n > 1)
		(void)pthread_join(wk[--n].thread, NULL);
	if (w->queue.err.code == DP_OK)
		return true;
	*e = w->queue.err;
	return false;
}

/* The writer of header and end knows of all that the workers wrote. */
static bool
put_ends(struct dp_walk *w, struct dp_writer *out, struct dp_worker *wk,
         struct dp_walk_result *result, struct dp_err *e)
{
	const struct dp_rec_end end = { 0 };

	for (unsigned i = 0; i < w->opts.threads; i++) {
		out->objects += wk[i].out.objects;
		out->records += wk[i].out.records;
		result->found += dp_extractor_found(wk[i].x);
		result->errors += dp_extractor_errors(wk[i].x);
	}
	result->objects = out->objects;
	result->files = atomic_load(&w->files);
	return dp_put_end(out, &end, e) && dp_writer_flush(out, e);
}

bool
dp_walk_run(struct dp_walk *w, struct dp_sink sink,
            struct dp_walk_result *result_ret, struct dp_err *e)
{
	struct dp_walk_result result = { 0 };
	struct dp_worker *wk;
	struct dp_writer out;
	bool ok;

	dp_mounts_deinit(&w->mounts);
	if (w->opts.recursive &&
	    !dp_mounts_read(&w->mounts, "/proc/self/mountinfo"))
		return dp_err_set(e, DP_ENOMEM, DP_NOOFF, "out of memory");
	wk = calloc(w->opts.threads, sizeof *wk);
	if (wk == NULL)
		return dp_err_set(e, DP_ENOMEM, DP_NOOFF, "out of memory");
	w->queue.sink = sink;
	dp_writer_init(&out, sink, w->opts.json);
	ok = dp_put_stream_header(&out, DPR_STAGE_EXTRACT, "dofextract", e) &&
	     dp_writer_flush(&out, e) && run_workers(w, wk, e) &&
	     put_ends(w, &out, wk, &result, e);
	for (unsigned i = 0; i < w->opts.threads; i++)
		worker_deinit(&wk[i]);
	free(wk);
	dp_writer_deinit(&out);
	if (ok)
		*result_ret = result;
	return ok;
}
