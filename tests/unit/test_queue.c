/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The line of work: trees of jobs done by real threads, with delays, must
 * come out as one thread would have written them, in bounded memory.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "extract/queue.h"
#include "streams.h"

enum {
	MAX_HELD = 12 << 20, /* the two bounds of queue.c */
	MAX_JOB_HELD = 1 << 20,
	MAX_THREADS = 8,
	MAX_WORDS = 40 << 10, /* of one chunk */
};

struct work {
	struct dp_job job; /* first */
	uint64_t seed;     /* decides what it does */
	unsigned depth;
};

struct run {
	struct dp_queue q;
	uint64_t seed;
	unsigned threads;
	bool heavy;            /* much output, so that the bounds are met */
	struct dp_buf want;    /* all output, in order */
	size_t got;            /* bytes that came and were right */
	bool wrong;            /* something came that was not */
	size_t most;           /* held at any time that a write was seen */
	unsigned writes, fail; /* the sink fails at write `fail`; 0 never */
	atomic_uint begun, freed, made;
	uint32_t stop_at; /* the job that stops the queue; 0 none */
};

/* What a job does is drawn from its seed, by the worker and the judge. */
struct plan {
	unsigned chunks, children, children_at;
	size_t words[3];
	uint64_t child[4];
};

static void
make_plan(const struct run *r, uint64_t seed, unsigned depth, struct plan *p)
{
	memset(p, 0, sizeof *p);
	p->chunks = (unsigned)(rnd(&seed) % 4);
	p->children = depth < 4 ? (unsigned)(rnd(&seed) % 5) : 0;
	p->children_at = (unsigned)(rnd(&seed) % 4);
	for (unsigned i = 0; i < 3; i++)
		p->words[i] =
			1 + (size_t)(rnd(&seed) % (r->heavy ? MAX_WORDS : 40));
	for (unsigned i = 0; i < 4; i++)
		p->child[i] = rnd(&seed);
}

static struct dp_buf
chunk(uint64_t seed, unsigned i, size_t words)
{
	struct dp_buf b = { 0 };
	uint64_t v = seed * 4 + i;

	if (!dp_buf_reserve(&b, words * sizeof v))
		abort();
	for (size_t k = 0; k < words; k++, b.n += sizeof v)
		memcpy(b.p + b.n, &v, sizeof v);
	return b;
}

/* The output of a job and all behind it, as one thread would write it. */
static void
expect(struct run *r, uint64_t seed, unsigned depth)
{
	struct plan p;

	make_plan(r, seed, depth, &p);
	for (unsigned i = 0; i < p.chunks && i < 3; i++) {
		struct dp_buf b = chunk(seed, i, p.words[i]);

		if (!dp_buf_add(&r->want, b.p, b.n))
			abort();
		dp_buf_deinit(&b);
	}
	for (unsigned i = 0; i < p.children; i++)
		expect(r, p.child[i], depth + 1);
}

static struct run *the_run; /* free_job has no argument for it */

static void
free_work(struct dp_job *job)
{
	atomic_fetch_add(&the_run->freed, 1);
	free(job);
}

static struct dp_job *
new_work(struct run *r, uint64_t seed, unsigned depth)
{
	struct work *w = calloc(1, sizeof *w);

	if (w == NULL)
		abort();
	w->seed = seed;
	w->depth = depth;
	atomic_fetch_add(&r->made, 1);
	return &w->job;
}

static void
put_children(struct run *r, struct work *w, const struct plan *p)
{
	struct dp_job *chain = NULL;

	for (unsigned i = p->children; i > 0; i--) {
		struct dp_job *j = new_work(r, p->child[i - 1], w->depth + 1);

		j->next = chain;
		chain = j;
	}
	if (chain != NULL)
		dp_queue_put(&r->q, &w->job, chain);
}

static void
dawdle(uint64_t *seed)
{
	switch (rnd(seed) % 16) {
	case 0:
		(void)usleep((useconds_t)(rnd(seed) % 100));
		break;
	case 1:
	case 2:
		(void)sched_yield();
		break;
	default:
		break;
	}
}

static bool
do_work(struct run *r, struct work *w, uint64_t *delays)
{
	struct dp_err e = DP_ERR_INIT;
	struct plan p;
	bool ok = true;

	make_plan(r, w->seed, w->depth, &p);
	for (unsigned i = 0; i <= 3 && ok; i++) {
		struct dp_buf b = { 0 };

		dawdle(delays);
		if (i == p.children_at)
			put_children(r, w, &p);
		if (i < p.chunks && i < 3)
			b = chunk(w->seed, i, p.words[i]);
		if (b.n != 0)
			ok = dp_queue_write(&r->q, &w->job, dp_buf_bytes(&b),
			                    &e);
		dp_buf_deinit(&b);
	}
	return ok;
}

static void *
worker(void *arg)
{
	struct run *r = arg;
	uint64_t delays = (uint64_t)(uintptr_t)&delays ^ r->seed;
	struct dp_job *job;

	while ((job = dp_queue_take(&r->q)) != NULL) {
		unsigned nth = atomic_fetch_add(&r->begun, 1) + 1;

		(void)do_work(r, (struct work *)job, &delays);
		if (nth == r->stop_at) {
			struct dp_err e = DP_ERR_INIT;

			dp_err_set(&e, DP_EUSAGE, 5, "enough");
			dp_queue_stop(&r->q, &e);
		}
		dp_queue_done(&r->q, job);
	}
	return NULL;
}

/* The lock is not held here, so what is held can be looked at. */
static bool
judge(void *ctx, struct dp_bytes b, struct dp_err *e)
{
	struct run *r = ctx;

	(void)pthread_mutex_lock(&r->q.lock);
	if (r->q.held > r->most)
		r->most = r->q.held;
	(void)pthread_mutex_unlock(&r->q.lock);
	if (b.n > r->want.n - r->got ||
	    memcmp(b.p, r->want.p + r->got, b.n) != 0)
		r->wrong = true;
	else
		r->got += b.n;
	if (r->heavy && r->writes < 3)
		(void)usleep(50000); /* who reads sleeps: output piles up */
	r->writes++;
	if (r->fail != 0 && r->writes >= r->fail)
		return dp_err_errno(e, ENOSPC, "write");
	return true;
}

static void
run_begin(struct run *r, uint64_t seed, unsigned threads, bool heavy)
{
	memset(r, 0, sizeof *r);
	the_run = r;
	r->seed = seed;
	r->threads = threads;
	r->heavy = heavy;
	dp_queue_init(&r->q, (struct dp_sink){ judge, r }, free_work);
}

/* Some jobs in a line, their trees, all the threads, and what came of it. */
static void
run_all(struct run *r)
{
	pthread_t t[MAX_THREADS];
	uint64_t seed = r->seed;

	for (unsigned i = 0; i < 5; i++) {
		uint64_t s = rnd(&seed);

		expect(r, s, 0);
		dp_queue_put(&r->q, NULL, new_work(r, s, 0));
	}
	for (unsigned i = 0; i < r->threads; i++)
		ck_assert_int_eq(pthread_create(&t[i], NULL, worker, r), 0);
	for (unsigned i = 0; i < r->threads; i++)
		ck_assert_int_eq(pthread_join(t[i], NULL), 0);
}

static void
run_end(struct run *r)
{
	const size_t bound = MAX_HELD + r->threads * (size_t)MAX_JOB_HELD;

	ck_assert(!r->wrong);
	ck_assert_uint_le(r->most, bound);
	ck_assert_ptr_null(dp_queue_take(&r->q)); /* and no waiting for it */
	dp_queue_deinit(&r->q);
	ck_assert_uint_eq(atomic_load(&r->made), atomic_load(&r->freed));
	dp_buf_deinit(&r->want);
}

static const unsigned crowds[] = { 1, 2, 8 };

START_TEST(order)
{
	for (uint64_t seed = 1; seed <= 70; seed++) {
		struct run r;

		run_begin(&r, seed, crowds[_i], false);
		run_all(&r);
		ck_assert_int_eq(r.q.err.code, DP_OK);
		ck_assert_uint_eq(r.got, r.want.n);
		ck_assert_uint_eq(atomic_load(&r.begun), atomic_load(&r.made));
		ck_assert_uint_eq(r.q.held, 0);
		ck_assert_ptr_null(r.q.head);
		run_end(&r);
	}
}
END_TEST

START_TEST(bounded)
{
	for (uint64_t seed = 1000; seed < 1004; seed++) {
		struct run r;

		run_begin(&r, seed, crowds[_i], true);
		run_all(&r);
		ck_assert_int_eq(r.q.err.code, DP_OK);
		ck_assert_uint_eq(r.got, r.want.n);
		run_end(&r);
	}
}
END_TEST

/* A sink that fails at any write stops all, with its own error. */
START_TEST(sink_fails)
{
	for (uint64_t seed = 1; seed <= 24; seed++) {
		struct run r;

		run_begin(&r, seed, crowds[_i], seed == 8);
		r.fail = 1 + (unsigned)seed % 9;
		run_all(&r);
		if (r.writes >= r.fail) {
			ck_assert_int_eq(r.q.err.os_errno, ENOSPC);
			ck_assert_uint_eq(r.writes, r.fail);
		}
		run_end(&r);
	}
}
END_TEST

/* A worker that gives up stops all, too; the first error stays. */
START_TEST(worker_stops)
{
	for (uint64_t seed = 1; seed <= 24; seed++) {
		struct run r;
		struct dp_err late = DP_ERR_INIT;

		run_begin(&r, seed, crowds[_i], false);
		r.stop_at = 1 + (uint32_t)seed % 12;
		run_all(&r);
		if (atomic_load(&r.begun) >= r.stop_at) {
			ck_assert_int_eq(r.q.err.code, DP_EUSAGE);
			dp_err_set(&late, DP_EIO, 0, "late");
			dp_queue_stop(&r.q, &late);
			ck_assert_str_eq(r.q.err.msg, "enough");
		}
		run_end(&r);
	}
}
END_TEST

/* A chain behind a job, and another at the end, without any thread. */
START_TEST(chains)
{
	struct dp_job *a, *got;
	struct run r;

	run_begin(&r, 1, 1, false);
	ck_assert_ptr_null(dp_queue_take(&r.q));
	a = new_work(&r, 1, 9);
	a->next = new_work(&r, 2, 9);
	dp_queue_put(&r.q, NULL, a);
	dp_queue_put(&r.q, NULL, new_work(&r, 5, 9));
	got = dp_queue_take(&r.q);
	ck_assert(got == a);
	got = new_work(&r, 3, 9);
	got->next = new_work(&r, 4, 9);
	dp_queue_put(&r.q, a, got);
	{
		static const uint64_t want[] = { 1, 3, 4, 2, 5 };
		struct dp_job *j = r.q.head, *last = NULL;

		for (size_t i = 0; i < LEN(want); i++, j = j->next) {
			ck_assert_ptr_nonnull(j);
			ck_assert_uint_eq(((struct work *)j)->seed, want[i]);
			ck_assert(j->prev == last);
			last = j;
		}
		ck_assert(j == NULL && r.q.tail == last);
	}
	dp_queue_done(&r.q, a);
	for (int i = 0; i < 4; i++) {
		got = dp_queue_take(&r.q);
		ck_assert_ptr_nonnull(got);
		dp_queue_done(&r.q, got);
	}
	run_end(&r);
}
END_TEST

/* Jobs that nobody did are freed with the queue. */
START_TEST(left_over)
{
	struct run r;

	run_begin(&r, 1, 1, false);
	for (int i = 0; i < 3; i++)
		dp_queue_put(&r.q, NULL, new_work(&r, 1, 9));
	ck_assert_ptr_nonnull(dp_queue_take(&r.q));
	dp_queue_deinit(&r.q);
	ck_assert_uint_eq(atomic_load(&r.freed), 3);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("queue");
	TCase *t = tcase_create("queue");
	const int n = (int)LEN(crowds);

	tcase_set_timeout(t, 120); /* what waits for ever fails here */
	tcase_add_loop_test(t, order, 0, n);
	tcase_add_loop_test(t, bounded, 0, n);
	tcase_add_loop_test(t, sink_fails, 0, n);
	tcase_add_loop_test(t, worker_stops, 0, n);
	tcase_add_test(t, chains);
	tcase_add_test(t, left_over);
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return run_checks(suite());
}
