// SyncEnv: a disk that keeps book of what a power cut could take: bytes appended to a file since its last sync, and
// names made in a directory since its last fsync. Every rename of a file with such bytes, and of a directory with such
// files or names, is a violation. Thread-safe.
#ifndef ROWAN_TESTS_SYNC_ENV_H_
#define ROWAN_TESTS_SYNC_ENV_H_

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/mutex.h"
#include "rocksdb/env.h"

namespace rowan::testing {

class SyncEnv final : public rocksdb::EnvWrapper {
 public:
  explicit SyncEnv(rocksdb::Env* base) : EnvWrapper(base) {}

  // What was renamed before it was safe.
  std::vector<std::string> violations() const {
    MutexLock lock(&mu_);
    return violations_;
  }
  // Files with bytes, and directories with names, that are not safe now.
  std::set<std::string> unsynced() const {
    MutexLock lock(&mu_);
    return unsynced_;
  }

  rocksdb::Status NewWritableFile(const std::string& path, std::unique_ptr<rocksdb::WritableFile>* file,
                                  const rocksdb::EnvOptions& options) override {
    std::unique_ptr<rocksdb::WritableFile> base;
    rocksdb::Status status = target()->NewWritableFile(path, &base, options);
    if (!status.ok()) return status;
    Mark(Parent(path));
    Mark(path);
    *file = std::make_unique<Written>(this, path, std::move(base));
    return status;
  }
  rocksdb::Status NewDirectory(const std::string& path, std::unique_ptr<rocksdb::Directory>* directory) override {
    std::unique_ptr<rocksdb::Directory> base;
    rocksdb::Status status = target()->NewDirectory(path, &base);
    if (status.ok()) *directory = std::make_unique<Dir>(this, path, std::move(base));
    return status;
  }
  rocksdb::Status CreateDir(const std::string& path) override {
    Mark(Parent(path));
    return target()->CreateDir(path);
  }
  rocksdb::Status CreateDirIfMissing(const std::string& path) override {
    Mark(Parent(path));
    return target()->CreateDirIfMissing(path);
  }
  rocksdb::Status RenameFile(const std::string& from, const std::string& to) override {
    Mark(Parent(from));
    Mark(Parent(to));
    MutexLock lock(&mu_);
    for (const std::string& path : unsynced_) {
      if (path == from || absl::StartsWith(path, from + "/")) {
        violations_.push_back(absl::StrCat(from, " renamed before ", path, " was synced"));
      }
    }
    return target()->RenameFile(from, to);
  }

 private:
  class Written final : public rocksdb::WritableFileWrapper {
   public:
    Written(SyncEnv* env, std::string path, std::unique_ptr<rocksdb::WritableFile> base)
        : WritableFileWrapper(base.get()), env_(env), path_(std::move(path)), base_(std::move(base)) {}
    rocksdb::Status Append(const rocksdb::Slice& data) override {
      env_->Mark(path_);
      return base_->Append(data);
    }
    rocksdb::Status Append(const rocksdb::Slice& data, const rocksdb::DataVerificationInfo&) override {
      return Append(data);
    }
    rocksdb::Status Sync() override {
      env_->Clear(path_);
      return base_->Sync();
    }
    rocksdb::Status Fsync() override {
      env_->Clear(path_);
      return base_->Fsync();
    }

   private:
    SyncEnv* const env_;
    const std::string path_;
    const std::unique_ptr<rocksdb::WritableFile> base_;
  };

  class Dir final : public rocksdb::DirectoryWrapper {
   public:
    Dir(SyncEnv* env, std::string path, std::unique_ptr<rocksdb::Directory> base)
        : DirectoryWrapper(base.get()), env_(env), path_(std::move(path)), base_(std::move(base)) {}
    rocksdb::Status Fsync() override {
      env_->Clear(path_);
      return base_->Fsync();
    }

   private:
    SyncEnv* const env_;
    const std::string path_;
    const std::unique_ptr<rocksdb::Directory> base_;
  };

  static std::string Parent(const std::string& path) { return path.substr(0, path.rfind('/')); }
  void Mark(const std::string& path) {
    MutexLock lock(&mu_);
    unsynced_.insert(path);
  }
  void Clear(const std::string& path) {
    MutexLock lock(&mu_);
    unsynced_.erase(path);
  }

  mutable Mutex mu_;
  std::set<std::string> unsynced_ ABSL_GUARDED_BY(mu_);
  std::vector<std::string> violations_ ABSL_GUARDED_BY(mu_);
};

}  // namespace rowan::testing

#endif  // ROWAN_TESTS_SYNC_ENV_H_
