// The system's gRPC, Abseil and Protobuf are not instrumented: a report with one of them on its
// stack says nothing. gRPC's operation sets are templates compiled into the test: the thread that
// begins a write may still be in Write when the completion queue hands the set to the next one, and
// what orders the two is inside the library. So is what orders the beginning of a call, which its
// template notes in the stream, and the first reading of the stream on the queue's thread.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GRAPEVINE_TSAN 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define GRAPEVINE_TSAN 1
#endif
#ifdef GRAPEVINE_TSAN
extern "C" const char* __tsan_default_suppressions() {
  return "race:libgrpc\nrace:libgpr\nrace:libprotobuf\nrace:libabsl\n"
         "race:grpc::internal::CallOp\nrace:grpc::ClientAsyncReaderWriter<*>::StartCall\n"
         "deadlock:libgrpc\nmutex:libgrpc\nthread:libgpr\nsignal:libgrpc\n";
}
extern "C" const char* __tsan_default_options() {
  return "halt_on_error=0:exitcode=66:ignore_noninstrumented_modules=1:report_signal_unsafe=0";
}
#endif
