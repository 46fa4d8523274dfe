// DataPlane: one server as its clients see it. Pulls and pushes of rows and dense blocks, in steps.
//
// A worker's client talks to this interface; a server implements it; every transport carries it. Over the local
// transport the client holds the server itself, and the spans below are the caller's own memory.
//
// No call waits for other ranks: `done` is called once, in any thread, possibly before the call returns. The request's
// memory must stay until then. How long a call takes depends on the transport: over the network it hands the request on
// and returns; over the local one the caller's thread does the server's work, the copying of rows, and with a step's
// last push the update of all its rows.
#ifndef ROWAN_COMMON_DATA_PLANE_H_
#define ROWAN_COMMON_DATA_PLANE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"

namespace rowan {

// Ranks from this one on belong to tools and other clients that take no part in steps.
inline constexpr uint32_t kFirstToolRank = uint32_t{1} << 20;

// In every request. A server refuses requests of an older generation or incarnation: Aborted.
struct RequestHeader {
  uint64_t generation = 0;
  uint32_t rank = 0;
  uint32_t incarnation = 0;
  uint64_t number = 0;       // the step; for a tool's push its own counter from 0 on
  uint64_t map_version = 0;
};

enum class Outcome : uint8_t {
  kFound = 0,    // the row is there
  kAbsent = 1,   // there is no row: the values are what the table's `absent` says
  kRefused = 2,  // there is no row and admission has not let it in yet
  kSpilled = 3,  // the row came from disk
};

// Rows wanted. A row is addressed by its own index: key i has row places[i] of `rows`, found or not, or row i where
// there are no places.
struct TablePull {
  uint32_t table = 0;
  absl::Span<const uint64_t> keys;       // (n), duplicates allowed
  absl::Span<float> rows;                // (m, width)
  absl::Span<Outcome> outcomes;          // (m), or empty when nobody asks
  absl::Span<const uint32_t> places = {};  // (n), each below m and no two the same; or empty: m = n
  uint32_t width = 0;  // floats of a row, which a server elsewhere checks; 0: as the sizes tell, or not checked
};

// A whole block of a dense parameter.
struct DensePull {
  uint32_t dense = 0;
  uint64_t block = 0;
  absl::Span<float> values;  // (size of the block)
};

struct PullRequest {
  RequestHeader header;
  // The rank's pushes of all steps below this one are acknowledged by all servers (P4).
  uint64_t committed = 0;
  bool last = false;  // the rank has finished: no push will follow
  std::vector<TablePull> tables;
  std::vector<DensePull> dense;
};

// Gradient sums for rows of one table in one shard. A key that comes twice means the sum of both.
struct TableGradients {
  uint32_t table = 0;
  absl::Span<const uint64_t> keys;        // (n)
  absl::Span<const uint32_t> occurrences; // (n) samples that used the key, or empty: 1 each
  absl::Span<const float> gradients;      // (n, width)
};

struct DenseGradient {
  uint32_t dense = 0;
  uint64_t block = 0;
  absl::Span<const float> gradient;  // (size of the block)
};

// The part of a push that concerns one shard: the unit of deduplication and acknowledgement.
struct PushSection {
  uint32_t shard = 0;
  std::vector<TableGradients> tables;
  std::vector<DenseGradient> dense;
};

struct PushRequest {
  RequestHeader header;
  // Sum of the samples' weights: the optimizer sees gradients times 1 / weight (of all ranks, in sync mode).
  // 0: the gradients are taken as they are. Otherwise 1e-18 to 1e18.
  double weight = 0;
  std::vector<PushSection> sections;    // ascending by shard, each shard once
  // Dense parameters, ascending, whose gradient is not finite in some block of this push, on whichever server: every
  // server refuses the parameter's whole update of that step.
  std::vector<uint32_t> refused_dense;
  std::shared_ptr<const void> storage;  // what the sections' spans point into: a held push keeps it alive
};

enum class SectionOutcome : uint8_t {
  kHeld = 0,       // sync: kept for the step boundary
  kApplied = 1,
  kDuplicate = 2,  // this push was here before
};

struct PushReply {
  absl::Status status;                   // not OK: nothing was taken; OutOfRange, a push too old: perhaps a part
  std::vector<SectionOutcome> outcomes;  // one a section, in order
  uint64_t refused_rows = 0;             // NaN or infinity; known at once outside sync mode only
};

struct HelloReply {
  uint64_t applied = 0;                    // sync: steps below this one are applied here
  bool holds_push = false;                 // sync: a push of this rank for step `applied` is held
  uint64_t committed = 0;                  // sync: the rank's commits seen here cover steps below this one
};

class DataPlane {
 public:
  using PullDone = std::function<void(absl::Status)>;
  // Called about once a second while a pull waits, with what it waits for. Must return at once and call nothing here.
  using PullWaiting = std::function<void(const std::string&)>;
  using PushDone = std::function<void(PushReply)>;

  virtual ~DataPlane() = default;

  // Fences older incarnations of the rank.
  virtual absl::Status Hello(const RequestHeader& header, HelloReply* reply) = 0;
  // Answered when the job's mode allows step `header.number` to read.
  virtual void Pull(const PullRequest* request, PullWaiting waiting, PullDone done) = 0;
  // Lets go of a pull that still waits: its `done` gets Cancelled. One that is being answered, or was, is left alone.
  virtual void CancelPull(const PullRequest* request) = 0;
  virtual void Push(PushRequest request, PushDone done) = 0;
  // A pull outside steps: whatever is there now. Changes nothing.
  virtual void Lookup(const PullRequest* request, PullDone done) = 0;
};

}  // namespace rowan

#endif  // ROWAN_COMMON_DATA_PLANE_H_
