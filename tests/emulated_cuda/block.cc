#include "tests/emulated_cuda/block.h"

#include <signal.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace emulated_cuda {

Place place;

namespace {

constexpr unsigned kWarp = 32;
constexpr size_t kMaxShared = 48 << 10;
constexpr size_t kStack = 64 << 10;

struct Fiber;

// Where a stack goes on.
using Point = void* [5];

// A thread of the block.
struct Thread {
  unsigned index;
  Fiber* fiber;  // that runs it, from its first instruction to its last
  // What it brings to an exchange, and takes from it.
  uint64_t value;
  unsigned source;
};

// A stack. It runs one thread after the other for as long as none of them waits.
struct Fiber {
  Point at;
  std::unique_ptr<char[]> stack;
  Thread* thread = nullptr;
};

// Lanes of a warp on their way to the same exchange.
struct Meeting {
  unsigned mask;
  unsigned arrived = 0;
  std::source_location where;
};

struct Warp {
  unsigned returned = 0;
  std::vector<Meeting> meetings;
};

struct Shared {
  void* memory;
  size_t bytes;
};

struct Block {
  const std::function<void()>* body = nullptr;
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  std::vector<Shared> shared;
  // The threads that have not begun, in the order stride * i + first mod their number.
  unsigned begun = 0;
  unsigned first = 0;
  unsigned stride = 1;
  bool ready_first = false;  // what waited goes on before others begin
  unsigned returned = 0;
  std::vector<Thread*> at_barrier;
  std::source_location barrier;
  std::vector<Fiber*> ready;
};

Block block;
Thread* current = nullptr;  // null between blocks
Point caller;               // of RunBlock
std::vector<std::unique_ptr<Fiber>> fibers;
std::vector<Fiber*> idle;
uint64_t random_state = 1;

unsigned Random(unsigned below) {
  random_state = random_state * 6364136223846793005 + 1442695040888963407;
  return static_cast<unsigned>((random_state >> 33) % below);
}

unsigned Count() { return static_cast<unsigned>(block.threads.size()); }

std::string Text(const uint3& i) {
  return "(" + std::to_string(i.x) + ", " + std::to_string(i.y) + ", " + std::to_string(i.z) + ")";
}

std::string Text(const std::source_location& where) {
  return std::string(where.file_name()) + ":" + std::to_string(where.line());
}

[[noreturn]] void Die(const std::string& why) {
  std::fprintf(stderr, "emulated CUDA: block %s, thread %s: %s\n", Text(place.block).c_str(),
               Text(place.thread).c_str(), why.c_str());
  std::abort();
}

// Says which thread it was that touched memory that is none; otherwise does nothing about it.
void NameFault(int signal) {
  if (current != nullptr) Die("touches memory that is not there");
  ::signal(signal, SIG_DFL);
}

bool Same(const std::source_location& a, const std::source_location& b) {
  return a.line() == b.line() && a.column() == b.column() &&
         std::strcmp(a.file_name(), b.file_name()) == 0;
}

void Run(Thread* thread) {
  current = thread;
  const dim3& size = place.block_size;
  const unsigned i = thread->index;
  place.thread = {i % size.x, i / size.x % size.y, i / (size.x * size.y)};
}

// By the compiler's own setjmp, and not instrumented: ucontext enters the kernel each time, and
// so does the address sanitizer before a longjmp, which it takes for the end of what is on the
// stack.
[[noreturn, gnu::noinline, gnu::no_sanitize_address]] void GoTo(Point& to) {
  __builtin_longjmp(to, 1);
}

// Leaves this stack for another one until somebody goes on at `from`.
[[gnu::noinline, gnu::no_sanitize_address]] void Switch(Point& from, Point& to) {
  if (__builtin_setjmp(from) == 0) GoTo(to);
}

[[gnu::noinline, gnu::no_sanitize_address]] void Start(Point& from, const ucontext_t& to) {
  if (__builtin_setjmp(from) == 0) setcontext(&to);
}

// To the end of the block if there is no fiber.
void SwitchTo(Fiber* fiber, Point& from) {
  if (fiber == nullptr) return Switch(from, caller);
  if (fiber->thread != nullptr) Run(fiber->thread);
  Switch(from, fiber->at);
}

// In an order of its own, all that waited at one place.
void Release(std::vector<Fiber*> waited) {
  if (Random(2) == 0) std::reverse(waited.begin(), waited.end());
  block.ready.insert(block.ready.begin(), waited.begin(), waited.end());
}

void ReleaseBarrier() {
  std::vector<Fiber*> waited;
  for (Thread* thread : block.at_barrier) {
    if (thread != current) waited.push_back(thread->fiber);
  }
  block.at_barrier.clear();
  Release(std::move(waited));
}

Thread* TakeFresh() {
  if (block.begun == Count()) return nullptr;
  const uint64_t at = uint64_t{block.begun++} * block.stride + block.first;
  return &block.threads[at % Count()];
}

void Return() {
  Warp& warp = block.warps[current->index / kWarp];
  const unsigned bit = 1u << Lane();
  warp.returned |= bit;
  for (const Meeting& meeting : warp.meetings) {
    if ((meeting.mask & bit) != 0) {
      Die("returns, but is named by an exchange of its warp at " + Text(meeting.where));
    }
  }
  ++block.returned;
  if (!block.at_barrier.empty() && block.at_barrier.size() + block.returned == Count()) {
    ReleaseBarrier();
  }
}

Fiber* Next();

[[noreturn]] void Live(Fiber* self) {
  for (;;) {
    while (Thread* const thread = TakeFresh()) {
      self->thread = thread;
      thread->fiber = self;
      Run(thread);
      (*block.body)();
      Return();
      if (block.ready_first && !block.ready.empty()) break;
    }
    self->thread = nullptr;
    idle.push_back(self);
    Fiber* const next = Next();
    if (next != self) SwitchTo(next, self->at);
  }
}

Fiber* made = nullptr;
Point maker;

void Begin() {
  Fiber* const self = made;
  Switch(self->at, maker);
  Live(self);
}

Fiber* NewFiber() {
  fibers.push_back(std::make_unique<Fiber>());
  Fiber* const fiber = fibers.back().get();
  fiber->stack = std::make_unique<char[]>(kStack);
  ucontext_t first;
  getcontext(&first);
  first.uc_stack.ss_sp = fiber->stack.get();
  first.uc_stack.ss_size = kStack;
  first.uc_link = nullptr;
  makecontext(&first, Begin, 0);
  made = fiber;
  Start(maker, first);
  return fiber;
}

Fiber* Idle() {
  if (idle.empty()) return NewFiber();
  Fiber* const fiber = idle.back();
  idle.pop_back();
  return fiber;
}

[[noreturn]] void DieOfWaiting() {
  for (const Warp& warp : block.warps) {
    for (const Meeting& meeting : warp.meetings) {
      Die("lanes wait at " + Text(meeting.where) + " for others of their warp that do not come");
    }
  }
  Die("threads wait for ever at " + Text(block.barrier));
}

// What runs next; null when all threads have returned.
Fiber* Next() {
  const bool fresh = block.begun < Count();
  if (!block.ready.empty() && (block.ready_first || !fresh)) {
    Fiber* const next = block.ready.back();
    block.ready.pop_back();
    return next;
  }
  if (fresh) return Idle();
  if (block.returned == Count()) return nullptr;
  DieOfWaiting();
}

// Lets others run until somebody has put this thread among those that are ready.
void Wait() {
  Fiber* const self = current->fiber;
  SwitchTo(Next(), self->at);
}

template <typename Finish>
void Meet(unsigned mask, const std::source_location& where, const Finish& finish) {
  Warp& warp = block.warps[current->index / kWarp];
  const unsigned bit = 1u << Lane();
  if ((mask & bit) == 0) Die("is not named by its own exchange at " + Text(where));
  const unsigned first = current->index - Lane();
  const unsigned there = Count() - first < kWarp ? (1u << (Count() - first)) - 1 : ~0u;
  if ((mask & ~there) != 0 || (mask & warp.returned) != 0) {
    Die("an exchange at " + Text(where) + " names lanes that have returned, or are none");
  }
  auto meeting = std::find_if(warp.meetings.begin(), warp.meetings.end(),
                              [&](const Meeting& m) { return (m.mask & mask) != 0; });
  if (meeting == warp.meetings.end()) {
    meeting = warp.meetings.insert(meeting, Meeting{.mask = mask, .where = where});
  }
  if (meeting->mask != mask || !Same(meeting->where, where)) {
    Die("lanes of a warp meet at " + Text(where) + " and at " + Text(meeting->where));
  }
  meeting->arrived |= bit;
  if (meeting->arrived != mask) return Wait();
  warp.meetings.erase(meeting);
  finish(&block.threads[first]);
  std::vector<Fiber*> waited;
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    if ((mask & ~bit) >> lane & 1) waited.push_back(block.threads[first + lane].fiber);
  }
  Release(std::move(waited));
}

void RunBlock(const dim3& grid_size, const dim3& block_size, const uint3& index,
              const std::function<void()>& thread) {
  place = {.block = index, .block_size = block_size, .grid_size = grid_size};
  const unsigned count = block_size.x * block_size.y * block_size.z;
  block.body = &thread;
  block.threads.resize(count);
  for (unsigned i = 0; i < count; ++i) block.threads[i] = {.index = i};
  block.warps.assign((count + kWarp - 1) / kWarp, {});
  block.shared.clear();
  block.begun = block.returned = 0;
  block.first = Random(count);
  // Forwards, backwards, or criss-cross.
  do {
    const unsigned draw = Random(3);
    block.stride = draw == 0 ? 1 : draw == 1 ? count - 1 : 1 + Random(count);
  } while (count > 1 && std::gcd(block.stride, count) != 1);
  block.ready_first = Random(2) == 0;
  SwitchTo(Idle(), caller);
  current = nullptr;
}

}  // namespace

void RunGrid(const dim3& grid_size, const dim3& block_size, const std::function<void()>& thread) {
  [[maybe_unused]] static const auto before = signal(SIGSEGV, NameFault);
  const uint64_t count = uint64_t{grid_size.x} * grid_size.y * grid_size.z;
  const bool backwards = Random(2) == 0;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t at = backwards ? count - 1 - i : i;
    const uint64_t row = at / grid_size.x;
    RunBlock(grid_size, block_size,
             {static_cast<unsigned>(at % grid_size.x), static_cast<unsigned>(row % grid_size.y),
              static_cast<unsigned>(row / grid_size.y)},
             thread);
  }
}

void UseShared(void* memory, size_t bytes) {
  size_t total = bytes;
  for (const Shared& known : block.shared) {
    if (known.memory == memory) return;
    total += known.bytes;
  }
  if (total > kMaxShared) Die(std::to_string(total) + " bytes of shared memory");
  block.shared.push_back({memory, bytes});
  std::memset(memory, 0xff, bytes);
}

void MeetBlock(const std::source_location& where) {
  if (block.at_barrier.empty()) block.barrier = where;
  if (!Same(block.barrier, where)) {
    Die("is at the barrier at " + Text(where) + ", others at " + Text(block.barrier));
  }
  block.at_barrier.push_back(current);
  if (block.at_barrier.size() + block.returned == Count()) return ReleaseBarrier();
  Wait();
}

uint64_t Exchange(unsigned mask, uint64_t value, unsigned source,
                  const std::source_location& where) {
  current->value = value;
  current->source = source;
  Meet(mask, where, [&](Thread* lanes) {
    uint64_t values[kWarp] = {};
    for (unsigned lane = 0; lane < kWarp; ++lane) {
      if (mask >> lane & 1) values[lane] = lanes[lane].value;
    }
    for (unsigned lane = 0; lane < kWarp; ++lane) {
      if ((mask >> lane & 1) == 0) continue;
      if ((mask >> lanes[lane].source & 1) == 0) {
        Die("an exchange at " + Text(where) + " reads a lane that it does not name");
      }
      lanes[lane].value = values[lanes[lane].source];
    }
  });
  return current->value;
}

unsigned Vote(unsigned mask, bool mine, const std::source_location& where) {
  current->value = mine;
  Meet(mask, where, [&](Thread* lanes) {
    unsigned votes = 0;
    for (unsigned lane = 0; lane < kWarp; ++lane) {
      if ((mask >> lane & 1) && lanes[lane].value != 0) votes |= 1u << lane;
    }
    for (unsigned lane = 0; lane < kWarp; ++lane) {
      if (mask >> lane & 1) lanes[lane].value = votes;
    }
  });
  return static_cast<unsigned>(current->value);
}

unsigned Lane() { return current->index % kWarp; }

}  // namespace emulated_cuda
