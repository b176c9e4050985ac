// The peer of ring_exchange_bench: one round of exchange with both neighbours
// of a ring and averaging, by MPI_Neighbor_allgather. For each line on rank 0's
// standard input it does a round and prints the seconds of the slowest rank.
//
//   mpirun ... mpi_ring ELEMENTS
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

// Unlike MPI_Bcast this does not spin while the other contender is measured.
bool AwaitCommand(int rank) {
  int go = 0;
  char line[16];
  if (rank == 0) go = std::fgets(line, sizeof(line), stdin) != nullptr ? 1 : 0;
  MPI_Request request;
  MPI_Ibcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
  int done = 0;
  while (true) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return go != 0;
    usleep(500);
  }
}

void Round(MPI_Comm ring, std::vector<float>& own, std::vector<float>& received) {
  const int size = static_cast<int>(own.size());
  MPI_Neighbor_allgather(own.data(), size, MPI_FLOAT, received.data(), size, MPI_FLOAT, ring);
  float* x = own.data();
  const float* left = received.data();
  const float* right = received.data() + size;
  for (int i = 0; i < size; ++i) x[i] = (x[i] + left[i] + right[i]) * (1.0f / 3.0f);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const size_t elements = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 25000000;
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int periodic = 1;
  MPI_Comm ring;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &ring);
  int rank;
  MPI_Comm_rank(ring, &rank);
  std::vector<float> own(elements, static_cast<float>(rank));
  std::vector<float> received(2 * elements);
  while (AwaitCommand(rank)) {
    MPI_Barrier(ring);
    const double start = MPI_Wtime();
    Round(ring, own, received);
    double seconds = MPI_Wtime() - start;
    double slowest;
    MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, ring);
    if (rank == 0) {
      std::printf("%.6f\n", slowest);
      std::fflush(stdout);
    }
  }
  MPI_Finalize();
  return 0;
}
