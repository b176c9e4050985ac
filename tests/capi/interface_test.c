/* The interface as a program in C uses it: compiled as C, against the shared library. A node that is
 * alone steps as the formulas say; whatever is wrong is refused with its name. */
#include "capi/grapevine.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

static void expect(int holds, const char* what, int line) {
  if (holds) return;
  fprintf(stderr, "interface_test.c:%d: not so: %s\n", line, what);
  ++failures;
}
#define EXPECT(condition) expect((condition), #condition, __LINE__)

static const int64_t kShape[] = {2, 2};
static const int64_t kTwo[] = {2};
static const grapevine_tensor kTensors[] = {
    {"matrix", GRAPEVINE_PARAMETER, 2, kShape},
    {"mean", GRAPEVINE_BUFFER, 1, kTwo},
};
static const float kStart[] = {1, -2, 3, -4, 0.5f, 0.5f};

static grapevine_model model(void) {
  grapevine_model made = {kTensors, 2, kStart, 0.25f};
  return made;
}

static void wait_for(grapevine_node* node, grapevine_task* task) {
  grapevine_error error;
  do {
    if (grapevine_await(node, 10000, task, &error) != 0) {
      fprintf(stderr, "%s\n", error.message);
      exit(1);
    }
  } while (task->state == GRAPEVINE_WAITING);
}

static void test_steps_alone(void) {
  const grapevine_setting settings[] = {
      {"rounds", "3"}, {"lr", "0.5"}, {"momentum", "0"}, {"schedule", "constant"}};
  grapevine_node* node = NULL;
  grapevine_error error;
  grapevine_model made = model();
  grapevine_task task;
  int64_t steps = 0;
  EXPECT(grapevine_join(settings, 4, &made, &node, &error) == 0);
  EXPECT(grapevine_rank(node) == 0);
  EXPECT(grapevine_size(node) == 1);
  for (wait_for(node, &task); task.state == GRAPEVINE_WANTED; wait_for(node, &task)) {
    int64_t i;
    EXPECT(task.round == steps);
    EXPECT(task.size == 6);
    for (i = 0; i < 4; ++i) task.gradient[i] = task.replica[i];
    for (; i < 6; ++i) task.gradient[i] = 1;
    EXPECT(grapevine_deliver(node, 2.5, &error) == 0);
    EXPECT(grapevine_deliver(node, 2.5, &error) == GRAPEVINE_USAGE);
    ++steps;
  }
  EXPECT(steps == 3);
  EXPECT(task.state == GRAPEVINE_OVER);
  EXPECT(task.gradient == NULL);
  EXPECT(task.replica[3] == -0.5f);                                 /* -4 / 2^3 */
  EXPECT(fabsf(task.replica[4] - (1 - 0.5f * 0.421875f)) < 1e-6f);  /* 1 - (3/4)^3 / 2 */
  int32_t finished = 0;
  EXPECT(grapevine_finish(node, 60000, &finished, &error) == 0);
  EXPECT(finished);
  char* json = NULL;
  EXPECT(grapevine_metrics(node, &json, &error) == 0);
  EXPECT(json != NULL && strstr(json, "\"train_loss\":2.5") != NULL);
  grapevine_free(json);
  EXPECT(grapevine_leave(node, 60000, &error) == 0);
}

/* Without "rounds" the run ends when its programs say so. */
static void test_ends_when_it_is_told(void) {
  const grapevine_setting settings[] = {{"lr", "1"}, {"momentum", "0"}, {"schedule", "constant"}};
  const float stepped[] = {0, -2, 3, -4, 0.5f, 0.5f};
  grapevine_node* node = NULL;
  grapevine_error error;
  grapevine_task task;
  grapevine_model made = model();
  EXPECT(grapevine_join(settings, 3, &made, &node, &error) == 0);
  wait_for(node, &task);
  EXPECT(grapevine_deliver_weights(node, stepped, 0, &error) == 0);
  wait_for(node, &task);
  EXPECT(task.state == GRAPEVINE_WANTED);
  EXPECT(task.replica[0] == 0);
  char* value = NULL;
  EXPECT(grapevine_setting_of(node, "momentum", &value, &error) == 0);
  EXPECT(value != NULL && strcmp(value, "0") == 0);
  grapevine_free(value);
  EXPECT(grapevine_setting_of(node, "momentun", &value, &error) == GRAPEVINE_USAGE);
  EXPECT(strcmp(error.message, "\"momentun\": there is no such setting") == 0);
  EXPECT(grapevine_retire(node, 0, &error) == 0);
  EXPECT(grapevine_deliver(node, 0, &error) == GRAPEVINE_USAGE);
  wait_for(node, &task);
  EXPECT(task.state == GRAPEVINE_OVER);
  EXPECT(task.replica[1] == -2);
  EXPECT(grapevine_leave(node, 60000, &error) == 0);
  EXPECT(grapevine_retire(NULL, 0, &error) == GRAPEVINE_USAGE);
}

struct mixer {
  const char* rank;
  char port[8];
  float weights[6];
};

/* Two nodes of a complete graph that mix once: both have the mean. */
static void* mix_once(void* argument) {
  struct mixer* own = argument;
  const grapevine_setting settings[] = {{"rank", own->rank},
                                        {"world_size", "2"},
                                        {"master_addr", "127.0.0.1"},
                                        {"master_port", own->port},
                                        {"topology", "complete"},
                                        {"algorithm", "dpsgd:order=atc"},
                                        {"rounds", "1"},
                                        {"lr", "1"},
                                        {"momentum", "0"},
                                        {"schedule", "constant"}};
  grapevine_node* node = NULL;
  grapevine_error error;
  grapevine_model made = model();
  int32_t state = -1;
  if (grapevine_join(settings, 10, &made, &node, &error) != 0 ||
      grapevine_mix(node, own->weights, 0, 60000, &state, &error) != 0) {
    fprintf(stderr, "rank %s: %s\n", own->rank, error.message);
    exit(1);
  }
  EXPECT(state == GRAPEVINE_OVER);
  EXPECT(grapevine_mix(node, own->weights, 0, 0, &state, &error) == GRAPEVINE_USAGE);
  EXPECT(grapevine_leave(node, 60000, &error) == 0);
  return NULL;
}

static void test_two_nodes_mix(const char* port) {
  struct mixer mixers[2] = {{"0", "", {0, 2, 4, 6, 0.5f, 0.5f}},
                            {"1", "", {4, 4, 4, 4, 0.5f, 0.5f}}};
  const float mean[] = {2, 3, 4, 5, 0.5f, 0.5f};
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) {
    snprintf(mixers[i].port, sizeof(mixers[i].port), "%s", port);
    pthread_create(&threads[i], NULL, mix_once, &mixers[i]);
  }
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < 6; ++i) {
    EXPECT(fabsf(mixers[0].weights[i] - mean[i]) < 1e-6f);
    EXPECT(mixers[0].weights[i] == mixers[1].weights[i]);
  }
}

static void refused(grapevine_model made, const grapevine_setting* settings, size_t count,
                    const char* words) {
  grapevine_node* node = NULL;
  grapevine_error error;
  EXPECT(grapevine_join(settings, count, &made, &node, &error) == GRAPEVINE_USAGE);
  EXPECT(node == NULL);
  if (strstr(error.message, words) == NULL) {
    fprintf(stderr, "\"%s\" does not say \"%s\"\n", error.message, words);
    ++failures;
  }
}

static void test_what_is_wrong_is_named(void) {
  const grapevine_setting rounds[] = {{"rounds", "3"}, {"rounds", "4"}};
  const grapevine_setting wrong[] = {{"rounds", "3"}, {"topology", "rong"}};
  const grapevine_setting nameless[] = {{NULL, "3"}};
  const int64_t huge[] = {INT64_MAX, INT64_MAX};
  const int64_t negative[] = {-1};
  grapevine_tensor tensors[2] = {kTensors[1], kTensors[0]};
  grapevine_model made = model();
  refused(made, wrong, 2, "topology=rong");
  refused(made, rounds, 2, "rounds is given twice");
  refused(made, nameless, 1, "setting 0 has no name");
  refused(made, NULL, 1, "settings is NULL");
  made.tensors = tensors;
  refused(made, rounds, 1, "matrix comes after the buffer mean");
  tensors[0] = tensors[1];
  refused(made, rounds, 1, "two tensors are called matrix");
  tensors[1].name = NULL;
  refused(made, rounds, 1, "has no name");
  tensors[1].name = "huge";
  tensors[1].shape = huge;
  refused(made, rounds, 1, "huge");
  tensors[1].shape = negative;
  tensors[1].dimensions = 1;
  refused(made, rounds, 1, "negative");
  tensors[1].dimensions = -1;
  refused(made, rounds, 1, "no shape");
  tensors[1] = kTensors[1];
  tensors[1].section = 7;
  refused(made, rounds, 1, "in no section");
  made = model();
  made.buffer_momentum = NAN;
  refused(made, rounds, 1, "momentum of buffers");
  made = model();
  made.values = NULL;
  refused(made, rounds, 1, "NULL");
  made = model();
  made.tensor_count = 0;
  refused(made, rounds, 1, "no parameters");
}

static void test_null_is_refused(void) {
  grapevine_error error;
  grapevine_task task;
  EXPECT(grapevine_await(NULL, 0, &task, &error) == GRAPEVINE_USAGE);
  EXPECT(grapevine_deliver(NULL, 0, NULL) == GRAPEVINE_USAGE);
  EXPECT(grapevine_deliver_weights(NULL, kStart, 0, NULL) == GRAPEVINE_USAGE);
  EXPECT(grapevine_leave(NULL, 0, &error) == 0);
  EXPECT(grapevine_topology(NULL, 0, NULL, &error) == GRAPEVINE_USAGE);
  EXPECT(grapevine_rank(NULL) == -1);
  grapevine_interrupt(NULL, NULL);
  grapevine_free(NULL);
}

/* A node that leaves while others are to come says so, at once. */
static void test_leaving_early(void) {
  const grapevine_setting settings[] = {{"rounds", "3"},
                                        {"rank", "1"},
                                        {"world_size", "2"},
                                        {"master_addr", "127.0.0.1"},
                                        {"master_port", "1"}};
  grapevine_node* node = NULL;
  grapevine_error error;
  grapevine_model made = model();
  grapevine_task task;
  EXPECT(grapevine_join(settings, 5, &made, &node, &error) == 0);
  EXPECT(grapevine_await(node, 0, &task, &error) == 0);
  EXPECT(task.state == GRAPEVINE_WAITING);
  EXPECT(task.replica == NULL);
  grapevine_interrupt(node, "the test has seen enough");
  EXPECT(grapevine_leave(node, 30000, &error) == GRAPEVINE_INTERRUPTED);
  EXPECT(strstr(error.message, "the test has seen enough") != NULL);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  test_steps_alone();
  test_ends_when_it_is_told();
  test_two_nodes_mix(argv[1]);
  test_what_is_wrong_is_named();
  test_null_is_refused();
  test_leaving_early();
  if (failures > 0) return 1;
  printf("interface %d, version %s\n", GRAPEVINE_INTERFACE_VERSION, grapevine_version());
  return 0;
}
