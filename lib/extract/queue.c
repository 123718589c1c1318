/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why nobody waits for ever: a worker that is free takes the first waiting
 * job of the line.  New jobs come right behind a running one, before its
 * worker is free again.  So the job at the head is running or about to be
 * taken, and the worker at the head never waits for room.
 */
#include "extract/queue.h"

enum {
	MAX_HELD = 12 << 20,   /* waiting output, of all jobs */
	MAX_JOB_HELD = 1 << 20 /* of one job, before it waits to be the head */
};

void
dp_queue_init(struct dp_queue *q, struct dp_sink sink,
              void (*free_job)(struct dp_job *job))
{
	*q = (struct dp_queue){ .sink = sink,
		                .free_job = free_job,
		                .err = DP_ERR_INIT };
	(void)pthread_mutex_init(&q->lock, NULL);
	(void)pthread_cond_init(&q->change, NULL);
}

static void
unlink_job(struct dp_queue *q, struct dp_job *job)
{
	if (job->prev != NULL)
		job->prev->next = job->next;
	else
		q->head = job->next;
	if (job->next != NULL)
		job->next->prev = job->prev;
	else
		q->tail = job->prev;
	q->held -= job->out.n;
	dp_buf_deinit(&job->out);
	q->free_job(job);
}

void
dp_queue_deinit(struct dp_queue *q)
{
	while (q->head != NULL)
		unlink_job(q, q->head);
	(void)pthread_cond_destroy(&q->change);
	(void)pthread_mutex_destroy(&q->lock);
}

void
dp_queue_put(struct dp_queue *q, struct dp_job *after, struct dp_job *chain)
{
	struct dp_job *last = chain, *behind;

	if (chain == NULL)
		return;
	(void)pthread_mutex_lock(&q->lock);
	if (after == NULL)
		after = q->tail;
	behind = after == NULL ? q->head : after->next;
	chain->prev = after;
	for (;; last = last->next) {
		last->state = DP_JOB_WAITING;
		if (last->next == NULL)
			break;
		last->next->prev = last;
	}
	last->next = behind;
	if (behind != NULL)
		behind->prev = last;
	else
		q->tail = last;
	if (after != NULL)
		after->next = chain;
	else
		q->head = chain;
	(void)pthread_cond_broadcast(&q->change);
	(void)pthread_mutex_unlock(&q->lock);
}

static struct dp_job *
first_waiting(const struct dp_queue *q)
{
	struct dp_job *job = q->head;

	while (job != NULL && job->state != DP_JOB_WAITING)
		job = job->next;
	return job;
}

struct dp_job *
dp_queue_take(struct dp_queue *q)
{
	struct dp_job *job = NULL;

	(void)pthread_mutex_lock(&q->lock);
	while (!q->stop) {
		job = first_waiting(q);
		if (job != NULL && (q->held < MAX_HELD || job == q->head))
			break;
		if (job == NULL && q->running == 0)
			break;
		job = NULL;
		(void)pthread_cond_wait(&q->change, &q->lock);
	}
	if (q->stop)
		job = NULL;
	if (job != NULL) {
		job->state = DP_JOB_RUNNING;
		q->running++;
	}
	(void)pthread_mutex_unlock(&q->lock);
	return job;
}

static void
stop_locked(struct dp_queue *q, const struct dp_err *e)
{
	if (q->err.code == DP_OK)
		q->err = *e;
	q->stop = true;
	(void)pthread_cond_broadcast(&q->change);
}

void
dp_queue_stop(struct dp_queue *q, const struct dp_err *e)
{
	(void)pthread_mutex_lock(&q->lock);
	stop_locked(q, e);
	(void)pthread_mutex_unlock(&q->lock);
}

/* Write with the lock given up; only the owner of the head comes here. */
static void
write_unlocked(struct dp_queue *q, struct dp_bytes b)
{
	struct dp_err e = DP_ERR_INIT;
	bool ok;

	if (b.n == 0 || q->stop)
		return;
	(void)pthread_mutex_unlock(&q->lock);
	ok = q->sink.write(q->sink.ctx, b, &e);
	(void)pthread_mutex_lock(&q->lock);
	if (!ok)
		stop_locked(q, &e);
}

/* Take what the job holds out of it, then write it. */
static void
write_held(struct dp_queue *q, struct dp_job *job)
{
	struct dp_buf out = job->out;

	job->out = (struct dp_buf){ 0 };
	q->held -= out.n;
	write_unlocked(q, dp_buf_bytes(&out));
	dp_buf_deinit(&out);
}

bool
dp_queue_write(struct dp_queue *q, struct dp_job *job, struct dp_bytes b,
               struct dp_err *e)
{
	bool ok;

	(void)pthread_mutex_lock(&q->lock);
	while (!q->stop && job != q->head && job->out.n + b.n > MAX_JOB_HELD)
		(void)pthread_cond_wait(&q->change, &q->lock);
	if (q->stop) {
		/* whoever stopped has the reason */
	} else if (job == q->head) {
		write_held(q, job);
		write_unlocked(q, b);
	} else if (dp_buf_add(&job->out, b.p, b.n)) {
		q->held += b.n;
	} else {
		(void)dp_err_set(e, DP_ENOMEM, DP_NOOFF, "out of memory");
		stop_locked(q, e);
	}
	ok = !q->stop;
	if (!ok)
		*e = q->err;
	(void)pthread_mutex_unlock(&q->lock);
	return ok;
}

/*
 * Write out finished jobs at the head.  The job being written stays the
 * head meanwhile, marked as running, so that no other can believe itself
 * there.
 */
static void
drain(struct dp_queue *q)
{
	while (!q->stop && q->head != NULL && q->head->state == DP_JOB_DONE) {
		struct dp_job *job = q->head;

		job->state = DP_JOB_RUNNING;
		write_held(q, job);
		unlink_job(q, job);
	}
}

void
dp_queue_done(struct dp_queue *q, struct dp_job *job)
{
	(void)pthread_mutex_lock(&q->lock);
	q->running--;
	if (job->out.n == 0 && job != q->head) {
		unlink_job(q, job);
	} else {
		job->state = DP_JOB_DONE;
		drain(q);
	}
	(void)pthread_cond_broadcast(&q->change);
	(void)pthread_mutex_unlock(&q->lock);
}
