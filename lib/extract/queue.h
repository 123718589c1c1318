/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work in a line whose output comes out in the order of the line, whoever
 * does it when.  Work may put more work right behind itself.  Output waits
 * only while something before it is not done, and what waits is bounded:
 * past the bound nothing new is begun but the work at the head.
 */
#ifndef DP_QUEUE_H
#define DP_QUEUE_H

#include <pthread.h>

#include "base/vec.h"
#include "record/writer.h"

enum dp_job_state { DP_JOB_WAITING, DP_JOB_RUNNING, DP_JOB_DONE };

/* One piece of work; the owner embeds it in its own struct. */
struct dp_job {
	struct dp_job *next, *prev;
	enum dp_job_state state;
	struct dp_buf out; /* output that cannot go out yet */
};

struct dp_queue {
	pthread_mutex_t lock;
	pthread_cond_t change;
	struct dp_job *head, *tail;
	struct dp_sink sink; /* where the output goes, in order */
	size_t held;         /* bytes in all .out */
	unsigned running;
	bool stop; /* the sink failed, or a worker gave up */
	struct dp_err err;
	void (*free_job)(struct dp_job *job);
};

void dp_queue_init(struct dp_queue *q, struct dp_sink sink,
                   void (*free_job)(struct dp_job *job));
void dp_queue_deinit(struct dp_queue *q);

/*
 * Put a chain of jobs, linked by ->next and ended by NULL, behind `after`,
 * or at the end when that is NULL.  `after` must be a running job: any other
 * may be done and gone by now.  That is why a chain goes in at once.
 */
void dp_queue_put(struct dp_queue *q, struct dp_job *after,
                  struct dp_job *chain);

/* The next work to do; waits for it.  NULL when all is done or stopped. */
struct dp_job *dp_queue_take(struct dp_queue *q);

/* Output of a running job; false when the queue stops. */
bool dp_queue_write(struct dp_queue *q, struct dp_job *job, struct dp_bytes b,
                    struct dp_err *e);

/* The job is done, its memory is the queue's. */
void dp_queue_done(struct dp_queue *q, struct dp_job *job);

/* Nothing more is begun; the first error stays. */
void dp_queue_stop(struct dp_queue *q, const struct dp_err *e);

#endif /* DP_QUEUE_H */
