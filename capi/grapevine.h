/* Grapevine for other programs: nodes whose gradients come from outside, simulations and graphs.
 *
 * A program joins a run as one of its nodes, with the layout and the starting values of its
 * weights. From then on it is asked for one gradient after the other; while it computes, the node
 * exchanges weights with its neighbours in the graph. Every setting of `grapevine node` works here
 * under the same name, and variables of the environment (RANK, WORLD_SIZE, MASTER_ADDR,
 * GRAPEVINE_TOPOLOGY ...) count where a setting is not given.
 *
 *   grapevine_setting settings[] = {{"topology", "ring"}, {"rounds", "100"}};
 *   grapevine_node* node = NULL;
 *   grapevine_error error;
 *   if (grapevine_join(settings, 2, tensors, n, weights, &node, &error)) return fail(&error);
 *   grapevine_task task;
 *   while (!grapevine_await(node, 1000, &task, &error)) {
 *     if (task.state == GRAPEVINE_OVER) break;         // task.replica is the model
 *     if (task.state == GRAPEVINE_WAITING) continue;   // a second has passed
 *     double loss = my_gradient(task.replica, task.gradient);
 *     if (grapevine_deliver(node, loss, &error)) break;
 *   }
 *   ...
 *   grapevine_leave(node, 60000, &error);
 *
 * Errors. Every function that can fail returns 0 or a code of grapevine_code, the exit codes of the
 * program `grapevine`, and fills in `error`, which may be NULL. The message says who, where and
 * what to do, with settings by their names here. No C++ exception and no signal handler crosses
 * this interface, and nothing here ends the process.
 *
 * Threads. Different nodes are independent. Of one node, grapevine_await and grapevine_deliver are
 * for one thread at a time; the others may be called from any thread at any time before
 * grapevine_leave. Threads that the library starts take no signals.
 *
 * Warnings go to standard error. A program that uses glog itself initializes that before its first
 * call here, and then they go where its own log goes.
 *
 * Memory. What a function returns through `char**` is freed with grapevine_free. Pointers in a
 * grapevine_task are the node's, and good until the next grapevine_await, or grapevine_leave. All
 * that is passed in is copied before the call returns.
 *
 * Stability: this is interface version 1. What is here stays, with its meaning; functions may be
 * added, under later symbol versions.
 */
#ifndef GRAPEVINE_CAPI_GRAPEVINE_H_
#define GRAPEVINE_CAPI_GRAPEVINE_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GRAPEVINE_INTERFACE_VERSION 1

/* What went wrong; 0 is none. */
typedef enum grapevine_code {
  GRAPEVINE_OK = 0,
  GRAPEVINE_OTHER = 1,         /* a bug, or a failure of the system */
  GRAPEVINE_USAGE = 2,         /* a wrong setting or argument */
  GRAPEVINE_INPUT = 3,         /* a file is missing or broken */
  GRAPEVINE_OUTPUT = 4,        /* a file of the run cannot be written */
  GRAPEVINE_RENDEZVOUS = 5,    /* nodes did not find each other, or differ in what they do */
  GRAPEVINE_PEER_LOST = 6,     /* a peer fell silent, died or broke the protocol */
  GRAPEVINE_DIVERGED = 7,      /* numbers became NaN or infinite, or exceed max_norm */
  GRAPEVINE_DEVICE = 8,        /* a device failed */
  GRAPEVINE_INTERRUPTED = 130, /* grapevine_interrupt, here or at another node */
  GRAPEVINE_TERMINATED = 143   /* a node has left before the end */
} grapevine_code;

typedef struct grapevine_error {
  int32_t code;       /* a grapevine_code */
  char message[4096]; /* UTF-8, ends with 0; cut where it is longer */
} grapevine_error;

/* A setting of `grapevine node`, by the name of its flag with underscores: {"eval_every", "0.5"}.
 * "config" names a file of settings, as --config. */
typedef struct grapevine_setting {
  const char* name;
  const char* value;
} grapevine_setting;

typedef enum grapevine_section {
  GRAPEVINE_PARAMETER = 0,
  GRAPEVINE_BUFFER = 1 /* running statistics: averaged, never stepped */
} grapevine_section;

/* A tensor of the replica, of 32-bit floats in C order. Buffers come after all parameters. */
typedef struct grapevine_tensor {
  const char* name; /* unique: "conv1.weight" */
  int32_t section;  /* a grapevine_section */
  int32_t dimensions;
  const int64_t* shape; /* `dimensions` extents; none is negative */
} grapevine_tensor;

/* The weights of a run: tensors one after the other, without gaps. */
typedef struct grapevine_model {
  const grapevine_tensor* tensors;
  size_t tensor_count;
  const float* values; /* where the run starts; the same on every node */
  /* How far a buffer moves towards the batch's statistic in a step, 0 .. 1: batch norm's momentum.
   * Not read where there are no buffers. */
  float buffer_momentum;
} grapevine_model;

typedef struct grapevine_node grapevine_node;

/* The version of the library: "0.1.0". Never fails; the text is the library's. */
const char* grapevine_version(void);

/* Which node of how many this process would be by settings and environment, and which of those of
 * its machine: before it joins, to choose its data. */
int grapevine_identify(const grapevine_setting* settings, size_t setting_count, int32_t* rank,
                       int32_t* size, int32_t* local_rank, grapevine_error* error);

/* Joins a run as the node that settings and environment say, and returns at once: the others may
 * come later. `*node` is to be given to grapevine_leave, whatever becomes of the run. */
int grapevine_join(const grapevine_setting* settings, size_t setting_count,
                   const grapevine_model* model, grapevine_node** node, grapevine_error* error);

/* This node's rank, and the nodes of the run. */
int32_t grapevine_rank(const grapevine_node* node);
int32_t grapevine_size(const grapevine_node* node);

/* What a setting is in this node's run, wherever it comes from (the call, the environment, a file,
 * a default), as a text that would set it so; empty where it is none. The run's folder is "out",
 * also where nobody has named one: it is a temporary one then, and goes with the node. */
int grapevine_setting_of(grapevine_node* node, const char* name, char** value,
                         grapevine_error* error);

typedef enum grapevine_state {
  GRAPEVINE_WAITING = 0, /* nothing yet: the time is over */
  GRAPEVINE_WANTED = 1,  /* a gradient is wanted */
  GRAPEVINE_OVER = 2     /* all are done */
} grapevine_state;

typedef struct grapevine_task {
  int32_t state; /* a grapevine_state */
  int64_t round; /* gradients of this node before this one; where one is wanted */
  int64_t size;  /* elements of replica and gradient */
  /* The weights at which the gradient is wanted; at the end, those of this node's model. Not to be
   * written: neighbours may be reading them. NULL while waiting, and where a node is a server. */
  const float* replica;
  /* For the gradient, all of whose elements are to be written; in the section of buffers, the
   * batch's statistics. NULL where none is wanted. */
  float* gradient;
} grapevine_task;

/* Waits until a gradient is wanted or the run is over, for at most that long (0: looks). Until the
 * gradient is delivered the task stays the same. An error: the run has failed. */
int grapevine_await(grapevine_node* node, int64_t timeout_ms, grapevine_task* task,
                    grapevine_error* error);

/* The gradient of the last task has been written; `loss` is the mean over its batch, NaN if nobody
 * knows it. */
int grapevine_deliver(grapevine_node* node, double loss, grapevine_error* error);

/* The same for a program with an update rule of its own, of which task.replica has become `weights`
 * (task.size of them; buffers are the moving averages after the batch): the node makes them part of
 * the average as its algorithm says, x <- sum_j W_ij x_j - (replica - weights) for dpsgd, x <-
 * sum_j W_ij weights_j for dpsgd:order=atc. Needs the settings optimizer=sgd, lr=1, momentum=0,
 * schedule=constant, with which a step takes an update as it is. */
int grapevine_deliver_weights(grapevine_node* node, const float* weights, double loss,
                              grapevine_error* error);

/* A step in one call: waits for the task, delivers these weights, waits for what becomes of them,
 * and writes it into `weights`. *state is GRAPEVINE_WANTED then, GRAPEVINE_OVER if that was the
 * last step, GRAPEVINE_WAITING if it has taken longer than that: `weights` are as they were, they
 * are delivered if the node has had a task, and grapevine_await gives what becomes of them. Not
 * while a gradient is computed: begin with grapevine_await and grapevine_deliver_weights to hide
 * the exchange behind work of one's own. */
int grapevine_mix(grapevine_node* node, float* weights, double loss, int64_t timeout_ms,
                  int32_t* state, grapevine_error* error);

/* How many rounds a run has need not be known: without the settings "rounds" and "epochs" it is
 * open-ended, where a step takes an update as it is (grapevine_deliver_weights) and nodes go
 * through rounds together. It ends when all its programs have said that they have delivered their
 * last gradient, as this does; a task under way is none any more. The node goes on averaging while
 * others need it, and in the run's last round all average alone; grapevine_await says when it
 * is over. `everybody`: the others' programs are to end after the gradient that they
 * compute, and find that the run is over when they ask for the next one. */
int grapevine_retire(grapevine_node* node, int32_t everybody, grapevine_error* error);

/* The last measurement of the run as a JSON object, as in metrics.jsonl, at the node that has rank
 * 0's role; "null" elsewhere, or before there is one. Measurements come in while nodes train on:
 * that of the last round is there for certain once grapevine_finish has said that all is over. */
int grapevine_metrics(grapevine_node* node, char** json, grapevine_error* error);

/* Copies the last averaged model, that of the workers' models after a step that "eval_every" names
 * or at the end, into `weights` (grapevine_task's size); all workers have the same one. *round is
 * the step, -1 before there is one; *distance is the consensus distance then, the mean of
 * |x_i - mean|^2 over the parameters. Where asynchronous servers have the model, the node with
 * rank 0's role alone has it, and *distance is NaN. */
int grapevine_average(grapevine_node* node, float* weights, int64_t* round, double* distance,
                      grapevine_error* error);

/* Ends the run at all nodes, with `why` as the reason; nothing where it is over. May be called
 * from a signal's thread, not from its handler. */
void grapevine_interrupt(grapevine_node* node, const char* why);

/* Waits until all nodes are done and the files of the run are written, for at most that long, and
 * says whether they are. The error is the run's. */
int grapevine_finish(grapevine_node* node, int64_t timeout_ms, int32_t* finished,
                     grapevine_error* error);

/* The same, and frees the node. Where the run is not over by then, it ends for all. */
int grapevine_leave(grapevine_node* node, int64_t timeout_ms, grapevine_error* error);

/* Simulates an experiment (`grapevine sim`), and returns summary.json. Blocks. Without "out" no
 * files are left. */
int grapevine_simulate(const grapevine_setting* settings, size_t setting_count, char** json,
                       grapevine_error* error);

/* The properties of the graph that "topology", "nodes", "mixing" and "seed" name, as
 * `grapevine topology --json`. */
int grapevine_topology(const grapevine_setting* settings, size_t setting_count, char** json,
                       grapevine_error* error);

/* Frees a text that a function here has returned; NULL is none. */
void grapevine_free(char* text);

#ifdef __cplusplus
}
#endif

#endif /* GRAPEVINE_CAPI_GRAPEVINE_H_ */
