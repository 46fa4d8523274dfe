// FaultEnv: a disk that fails at a chosen operation. Thread-safe.
//
// Counted are creations, appends, syncs and closes of files, fsyncs of directories, renames, and opens and reads of
// sequential files. A failing operation does nothing and returns IOError "fault".
#ifndef ROWAN_TESTS_FAULT_ENV_H_
#define ROWAN_TESTS_FAULT_ENV_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "rocksdb/env.h"

namespace rowan::testing {

class FaultEnv final : public rocksdb::EnvWrapper {
 public:
  enum class Mode {
    kOnce,     // operation n fails, those after it work
    kForGood,  // nothing works from operation n on, removals included
  };

  explicit FaultEnv(rocksdb::Env* base) : EnvWrapper(base) {}

  // Counts anew from 1; operation n fails. 0: none does.
  void FailAt(int64_t n, Mode mode) {
    fail_at_ = n;
    mode_ = mode;
    operations_ = 0;
  }
  int64_t operations() const { return operations_; }

  rocksdb::Status NewWritableFile(const std::string& path, std::unique_ptr<rocksdb::WritableFile>* file,
                                  const rocksdb::EnvOptions& options) override {
    return Try([&] {
      std::unique_ptr<rocksdb::WritableFile> base;
      rocksdb::Status status = target()->NewWritableFile(path, &base, options);
      if (status.ok()) *file = std::make_unique<Written>(this, std::move(base));
      return status;
    });
  }
  rocksdb::Status NewSequentialFile(const std::string& path, std::unique_ptr<rocksdb::SequentialFile>* file,
                                    const rocksdb::EnvOptions& options) override {
    return Try([&] {
      std::unique_ptr<rocksdb::SequentialFile> base;
      rocksdb::Status status = target()->NewSequentialFile(path, &base, options);
      if (status.ok()) *file = std::make_unique<Sequential>(this, std::move(base));
      return status;
    });
  }
  rocksdb::Status NewDirectory(const std::string& path, std::unique_ptr<rocksdb::Directory>* directory) override {
    return Try([&] {
      std::unique_ptr<rocksdb::Directory> base;
      rocksdb::Status status = target()->NewDirectory(path, &base);
      if (status.ok()) *directory = std::make_unique<Dir>(this, std::move(base));
      return status;
    });
  }
  rocksdb::Status CreateDir(const std::string& path) override {
    return Try([&] { return target()->CreateDir(path); });
  }
  rocksdb::Status CreateDirIfMissing(const std::string& path) override {
    return Try([&] { return target()->CreateDirIfMissing(path); });
  }
  rocksdb::Status RenameFile(const std::string& from, const std::string& to) override {
    return Try([&] { return target()->RenameFile(from, to); });
  }
  rocksdb::Status DeleteFile(const std::string& path) override { return Dead() ? Fault() : target()->DeleteFile(path); }
  rocksdb::Status DeleteDir(const std::string& path) override { return Dead() ? Fault() : target()->DeleteDir(path); }

 private:
  class Written final : public rocksdb::WritableFileWrapper {
   public:
    Written(FaultEnv* env, std::unique_ptr<rocksdb::WritableFile> base)
        : WritableFileWrapper(base.get()), env_(env), base_(std::move(base)) {}
    rocksdb::Status Append(const rocksdb::Slice& data) override {
      return env_->Try([&] { return base_->Append(data); });
    }
    rocksdb::Status Append(const rocksdb::Slice& data, const rocksdb::DataVerificationInfo&) override {
      return Append(data);
    }
    rocksdb::Status Sync() override {
      return env_->Try([&] { return base_->Sync(); });
    }
    rocksdb::Status Fsync() override {
      return env_->Try([&] { return base_->Fsync(); });
    }
    rocksdb::Status Close() override {
      return env_->Try([&] { return base_->Close(); });
    }

   private:
    FaultEnv* const env_;
    const std::unique_ptr<rocksdb::WritableFile> base_;
  };

  class Sequential final : public rocksdb::SequentialFile {
   public:
    Sequential(FaultEnv* env, std::unique_ptr<rocksdb::SequentialFile> base) : env_(env), base_(std::move(base)) {}
    rocksdb::Status Read(size_t n, rocksdb::Slice* result, char* scratch) override {
      return env_->Try([&] { return base_->Read(n, result, scratch); });
    }
    rocksdb::Status Skip(uint64_t n) override { return base_->Skip(n); }

   private:
    FaultEnv* const env_;
    const std::unique_ptr<rocksdb::SequentialFile> base_;
  };

  class Dir final : public rocksdb::DirectoryWrapper {
   public:
    Dir(FaultEnv* env, std::unique_ptr<rocksdb::Directory> base)
        : DirectoryWrapper(base.get()), env_(env), base_(std::move(base)) {}
    rocksdb::Status Fsync() override {
      return env_->Try([&] { return base_->Fsync(); });
    }

   private:
    FaultEnv* const env_;
    const std::unique_ptr<rocksdb::Directory> base_;
  };

  static rocksdb::Status Fault() { return rocksdb::Status::IOError("fault"); }
  bool Dead() const { return mode_ == Mode::kForGood && fail_at_ > 0 && operations_ >= fail_at_; }
  template <typename Operation>
  rocksdb::Status Try(Operation operation) {
    const int64_t n = ++operations_;
    return n == fail_at_ || Dead() ? Fault() : operation();
  }

  std::atomic<int64_t> operations_{0};
  std::atomic<int64_t> fail_at_{0};
  std::atomic<Mode> mode_{Mode::kOnce};
};

}  // namespace rowan::testing

#endif  // ROWAN_TESTS_FAULT_ENV_H_
