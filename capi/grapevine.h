/* The C interface of Grapevine: nodes whose gradients another program computes, simulations, and
 * properties of graphs.
 *
 * A program joins a run as one of its nodes, with the layout and the starting values of its
 * weights. From then on it is asked for one gradient after the other; while it computes, the node
 * exchanges weights with its neighbours in the graph. Every setting of `grapevine node` works here
 * under the same name, and variables of the environment (RANK, WORLD_SIZE, MASTER_ADDR,
 * GRAPEVINE_TOPOLOGY ...) count if a setting is not given.
 *
 *   grapevine_setting settings[] = {{"topology", "ring"}, {"rounds", "100"}};
 *   grapevine_node* node = NULL;
 *   grapevine_error error;
 *   grapevine_model model = {tensors, n, weights, 0.1f};
 *   if (grapevine_join(settings, 2, &model, &node, &error)) return fail(&error);
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
 * program `grapevine`, and fills in `error`, which may be NULL. The message says what failed, where
 * and what to do, and calls settings by their names in this interface. No C++ exception and no
 * signal handler crosses this interface, and no function ends the process.
 *
 * Threads. Different nodes are independent. Of one node, grapevine_await, grapevine_deliver,
 * grapevine_deliver_weights, grapevine_mix and grapevine_retire may be called by only one thread at
 * a time; the other functions may be called from any thread at any time before grapevine_leave.
 * Threads that the library starts take no signals.
 *
 * Warnings go to standard error. A program that uses glog itself must initialize glog before its
 * first call of this interface; then the warnings go where its own log goes.
 *
 * Memory. Texts that a function returns through `char**` must be freed with grapevine_free.
 * Pointers in a grapevine_task belong to the node, and are valid until the next grapevine_await, or
 * grapevine_leave. All arguments are copied before the call returns.
 *
 * Stability. This is interface version 1. Its functions and types stay, with their meaning;
 * functions may be added, under later symbol versions.
 */
#ifndef GRAPEVINE_CAPI_GRAPEVINE_H_
#define GRAPEVINE_CAPI_GRAPEVINE_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GRAPEVINE_INTERFACE_VERSION 1

/* The reasons for a failure; 0 is success. */
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
  char message[4096]; /* UTF-8, ends with 0; a longer message is cut */
} grapevine_error;

/* A setting of `grapevine node`, by the name of its flag with underscores: {"eval_every", "0.5"}.
 * "config" names a file of settings, as --config does. */
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

/* The weights of a run. The tensors follow one another in `values`, without gaps. */
typedef struct grapevine_model {
  const grapevine_tensor* tensors;
  size_t tensor_count;
  const float* values; /* the starting values; equal on all nodes */
  /* How far a buffer moves towards the batch's statistic in a step, 0 .. 1: batch norm's momentum.
   * Ignored if the model has no buffers. */
  float buffer_momentum;
} grapevine_model;

typedef struct grapevine_node grapevine_node;

/* Returns the version of the library: "0.1.0". Never fails; the text belongs to the library. */
const char* grapevine_version(void);

/* Says which rank this process would have by settings and environment, of how many nodes (`size`),
 * and which rank among the nodes of its machine. A program can choose its data by this before it
 * joins. */
int grapevine_identify(const grapevine_setting* settings, size_t setting_count, int32_t* rank,
                       int32_t* size, int32_t* local_rank, grapevine_error* error);

/* Joins a run as the node that settings and environment say, and returns at once: the other nodes
 * may join later. `*node` must be given to grapevine_leave, whatever becomes of the run. */
int grapevine_join(const grapevine_setting* settings, size_t setting_count,
                   const grapevine_model* model, grapevine_node** node, grapevine_error* error);

/* Return the rank of this node, and the number of nodes of the run. */
int32_t grapevine_rank(const grapevine_node* node);
int32_t grapevine_size(const grapevine_node* node);

/* Returns the value of a setting in this node's run, wherever it comes from (the call, the
 * environment, a file, a default), as a text that would set it to this value; empty if the setting
 * has no value. The folder of the run is "out", even if none has been named: then it is a temporary
 * folder, which is removed with the node. */
int grapevine_setting_of(grapevine_node* node, const char* name, char** value,
                         grapevine_error* error);

typedef enum grapevine_state {
  GRAPEVINE_WAITING = 0, /* no gradient is wanted yet: the time is over */
  GRAPEVINE_WANTED = 1,  /* a gradient is wanted */
  GRAPEVINE_OVER = 2     /* the run is over: all nodes are done */
} grapevine_state;

typedef struct grapevine_task {
  int32_t state; /* a grapevine_state */
  int64_t round; /* gradients of this node before the wanted one */
  int64_t size;  /* elements of replica and gradient */
  /* The weights at which the gradient is wanted; at the end, those of this node's model. They must
   * not be written: neighbours may be reading them. NULL while waiting, and if the node is a
   * server. */
  const float* replica;
  /* The place for the gradient. All of its elements must be written, those in the section of
   * buffers with the batch's statistics. NULL if no gradient is wanted. */
  float* gradient;
} grapevine_task;

/* Waits until a gradient is wanted or the run is over, for at most `timeout_ms` (0: does not wait).
 * The task stays the same until its gradient is delivered. An error means that the run has
 * failed. */
int grapevine_await(grapevine_node* node, int64_t timeout_ms, grapevine_task* task,
                    grapevine_error* error);

/* Delivers the gradient of the last task, which must have been written. `loss` is the mean over its
 * batch; NaN if it is unknown. */
int grapevine_deliver(grapevine_node* node, double loss, grapevine_error* error);

/* Delivers updated weights instead of a gradient, for a program with its own update rule: `weights`
 * are what the rule has made of task.replica (task.size elements; buffers are the moving averages
 * after the batch). The node makes them part of the average as its algorithm says:
 * x <- sum_j W_ij x_j - (replica - weights) for dpsgd, x <- sum_j W_ij weights_j for
 * dpsgd:order=atc. Needs the settings optimizer=sgd, lr=1, momentum=0, schedule=constant, with
 * which a step takes an update as it is. `loss` is as for grapevine_deliver. */
int grapevine_deliver_weights(grapevine_node* node, const float* weights, double loss,
                              grapevine_error* error);

/* Does a step in one call: waits for the task, delivers `weights` as grapevine_deliver_weights
 * does, waits for the result, and writes it into `weights`. *state is then GRAPEVINE_WANTED, or
 * GRAPEVINE_OVER if this was the last step. *state is GRAPEVINE_WAITING if the step takes longer
 * than `timeout_ms`: then `weights` are unchanged, they have been delivered if the node had a task,
 * and grapevine_await gives the result. The exchange does not run while a gradient is computed; to
 * hide it behind your own work, begin with grapevine_await and grapevine_deliver_weights. */
int grapevine_mix(grapevine_node* node, float* weights, double loss, int64_t timeout_ms,
                  int32_t* state, grapevine_error* error);

/* Says that this program has delivered its last gradient in an open-ended run; a task under way is
 * cancelled. A run is open-ended without the settings "rounds" and "epochs", if a step takes an
 * update as it is (grapevine_deliver_weights) and nodes go through rounds together. It ends when
 * all its programs have called this function. Until then the node goes on averaging while others
 * need it, and in the run's last round all nodes only average; grapevine_await says when the run is
 * over. If `everybody` is not 0, the other nodes' programs are to end after the gradient that they
 * compute, and find that the run is over when they ask for the next one. */
int grapevine_retire(grapevine_node* node, int32_t everybody, grapevine_error* error);

/* Returns the last measurement of the run as a JSON object, as in metrics.jsonl, at the node that
 * has rank 0's role; "null" at other nodes, or before the first measurement. Measurements come in
 * while nodes train on: that of the last round is certain to have come once grapevine_finish has
 * said that all nodes are done. */
int grapevine_metrics(grapevine_node* node, char** json, grapevine_error* error);

/* Copies the last averaged model, which is the mean of the workers' models after a step that
 * "eval_every" names or at the end, into `weights` (`size` elements, as in grapevine_task). All
 * workers have the same one. *round is the step, -1 before the first average; *distance is the
 * consensus distance at that step, the mean of |x_i - mean|^2 over the parameters. If asynchronous
 * servers have the model, only the node with rank 0's role has the average, and *distance is
 * NaN. */
int grapevine_average(grapevine_node* node, float* weights, int64_t* round, double* distance,
                      grapevine_error* error);

/* Ends the run at all nodes, with `why` as the reason; does nothing if the run is over. May be
 * called from a thread that waits for signals, not from a signal handler. */
void grapevine_interrupt(grapevine_node* node, const char* why);

/* Waits until all nodes are done and the files of the run are written, for at most `timeout_ms`;
 * *finished says whether they are. The error is that of the run. */
int grapevine_finish(grapevine_node* node, int64_t timeout_ms, int32_t* finished,
                     grapevine_error* error);

/* Waits as grapevine_finish does, and frees the node. If the run is not over after `timeout_ms`, it
 * ends at all nodes. */
int grapevine_leave(grapevine_node* node, int64_t timeout_ms, grapevine_error* error);

/* Simulates an experiment (`grapevine sim`), and returns the text of summary.json. Blocks. Leaves
 * no files without the setting "out". */
int grapevine_simulate(const grapevine_setting* settings, size_t setting_count, char** json,
                       grapevine_error* error);

/* Returns the properties of the graph that "topology", "nodes", "mixing" and "seed" name, as
 * `grapevine topology --json` prints them. */
int grapevine_topology(const grapevine_setting* settings, size_t setting_count, char** json,
                       grapevine_error* error);

/* Frees a text that a function of this interface has returned; ignores NULL. */
void grapevine_free(char* text);

#ifdef __cplusplus
}
#endif

#endif /* GRAPEVINE_CAPI_GRAPEVINE_H_ */
