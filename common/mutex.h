// Mutex, MutexLock, SharedMutexLock, CondVar: every lock of the project.
//
// absl::Mutex with clang's thread-safety annotations. Debian's abseil is built without ThreadSanitizer, which therefore
// does not see that an absl::Mutex orders memory; under --config=tsan the wrappers tell it. Use nothing else: a
// std::mutex escapes the annotations, a bare absl::Mutex escapes the sanitizer.
#ifndef ROWAN_COMMON_MUTEX_H_
#define ROWAN_COMMON_MUTEX_H_

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

#if defined(__SANITIZE_THREAD__)
#define ROWAN_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ROWAN_TSAN 1
#endif
#endif

#ifdef ROWAN_TSAN
#include <sanitizer/tsan_interface.h>
#define ROWAN_TSAN_MUTEX(call) call
#else
#define ROWAN_TSAN_MUTEX(call)
#endif

namespace rowan {

class ABSL_LOCKABLE Mutex {
 public:
  Mutex() { ROWAN_TSAN_MUTEX(__tsan_mutex_create(this, __tsan_mutex_not_static)); }
  ~Mutex() { ROWAN_TSAN_MUTEX(__tsan_mutex_destroy(this, __tsan_mutex_not_static)); }
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() {
    ROWAN_TSAN_MUTEX(__tsan_mutex_pre_lock(this, 0));
    mu_.Lock();
    ROWAN_TSAN_MUTEX(__tsan_mutex_post_lock(this, 0, 0));
  }
  void Unlock() ABSL_UNLOCK_FUNCTION() {
    ROWAN_TSAN_MUTEX(__tsan_mutex_pre_unlock(this, 0));
    mu_.Unlock();
    ROWAN_TSAN_MUTEX(__tsan_mutex_post_unlock(this, 0));
  }
  void LockShared() ABSL_SHARED_LOCK_FUNCTION() {
    ROWAN_TSAN_MUTEX(__tsan_mutex_pre_lock(this, __tsan_mutex_read_lock));
    mu_.ReaderLock();
    ROWAN_TSAN_MUTEX(__tsan_mutex_post_lock(this, __tsan_mutex_read_lock, 0));
  }
  void UnlockShared() ABSL_UNLOCK_FUNCTION() {
    ROWAN_TSAN_MUTEX(__tsan_mutex_pre_unlock(this, __tsan_mutex_read_lock));
    mu_.ReaderUnlock();
    ROWAN_TSAN_MUTEX(__tsan_mutex_post_unlock(this, __tsan_mutex_read_lock));
  }
  void AssertHeld() const ABSL_ASSERT_EXCLUSIVE_LOCK() { mu_.AssertHeld(); }

 private:
  friend class CondVar;
  absl::Mutex mu_;
};

class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex* mu) ABSL_EXCLUSIVE_LOCK_FUNCTION(mu) : mu_(mu) { mu_->Lock(); }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mu_->Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex* const mu_;
};

class ABSL_SCOPED_LOCKABLE SharedMutexLock {
 public:
  explicit SharedMutexLock(Mutex* mu) ABSL_SHARED_LOCK_FUNCTION(mu) : mu_(mu) { mu_->LockShared(); }
  ~SharedMutexLock() ABSL_UNLOCK_FUNCTION() { mu_->UnlockShared(); }
  SharedMutexLock(const SharedMutexLock&) = delete;
  SharedMutexLock& operator=(const SharedMutexLock&) = delete;

 private:
  Mutex* const mu_;
};

// Waits may wake without a signal: wait in a loop over the condition. Every wait of the project has a deadline, so
// there is no Wait() without one.
class CondVar {
 public:
  // Returns true if the deadline passed. REQUIRES: the caller holds `mu` exclusively.
  bool WaitWithTimeout(Mutex* mu, absl::Duration timeout) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    ROWAN_TSAN_MUTEX(__tsan_mutex_pre_unlock(mu, 0));
    ROWAN_TSAN_MUTEX(__tsan_mutex_post_unlock(mu, 0));
    const bool timed_out = cv_.WaitWithTimeout(&mu->mu_, timeout);
    ROWAN_TSAN_MUTEX(__tsan_mutex_pre_lock(mu, 0));
    ROWAN_TSAN_MUTEX(__tsan_mutex_post_lock(mu, 0, 0));
    return timed_out;
  }
  void Signal() { cv_.Signal(); }
  void SignalAll() { cv_.SignalAll(); }

 private:
  absl::CondVar cv_;
};

}  // namespace rowan

#endif  // ROWAN_COMMON_MUTEX_H_
