#include "worker/examples/ctr/ctr_trainer.h"

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "worker/data/batch_reader.h"
#include "worker/nn/gemm.h"
#include "worker/train/train_loop.h"

namespace rowan {

absl::StatusOr<CtrTrainResult> TrainCtr(const CtrTrainOptions& options, const CtrDataset& dataset, ThreadPool* pool,
                                        Client* client,
                                        const std::function<absl::Status(CtrProgress*)>& after_step) {
  UseOneThreadPerProduct();
  CtrModel model(options.model, pool);
  ROWAN_RETURN_IF_ERROR(model.Open(options.rates, client));

  BatchReaderOptions reader_options;
  reader_options.layout = dataset.layout;
  reader_options.first_row = dataset.begin;
  reader_options.end_row = dataset.end;
  reader_options.seed = options.seed;
  reader_options.window = options.shuffle_window;
  reader_options.batch_size = options.batch_size;
  reader_options.rank = client->rank();
  reader_options.num_ranks = client->job().num_ranks();
  reader_options.max_bad_share = options.max_bad_share;
  BatchReader reader(dataset.index.get(), reader_options);
  Deduplicator deduplicator;

  CtrProgress progress;
  progress.total_steps = options.epochs * reader.steps();
  CtrTrainResult result;
  TrainCallbacks<CtrBatch> callbacks;
  callbacks.prepare = [&](int64_t epoch, int64_t step, CtrBatch* batch) -> absl::Status {
    Stopwatch watch;
    ROWAN_RETURN_IF_ERROR(reader.Read(epoch, step, &batch->batch).status());
    batch->read_time = watch.Lap();
    MakeDistinct(&deduplicator, batch);
    batch->deduplicate_time = watch.Lap();
    return absl::OkStatus();
  };
  callbacks.train = [&](Step* step, int64_t epoch, const CtrBatch& batch, Profile* profile) -> absl::Status {
    profile->Add(Profile::kRead, batch.read_time);
    profile->Add(Profile::kDeduplicate, batch.deduplicate_time);
    Stopwatch watch;
    ROWAN_RETURN_IF_ERROR(step->Pull(model.RowsOf(batch), model.DenseParameters()).Wait());
    profile->Add(Profile::kPull, watch.Lap());
    const CtrModel::Result computed = model.Train(batch);
    const absl::Duration compute_time = watch.Lap();
    const absl::Duration thread_time = computed.forward_time + computed.backward_time;
    const double forward_share =
        thread_time > absl::ZeroDuration() ? absl::FDivDuration(computed.forward_time, thread_time) : 0;
    profile->Add(Profile::kForward, compute_time * forward_share);
    profile->Add(Profile::kBackward, compute_time * (1 - forward_share));
    if (computed.non_finite.has_value()) {
      return absl::InternalError(absl::StrCat("the loss is not finite at step ", step->number(), ", rank ",
                                              client->rank(), ", epoch ", epoch, ": ",
                                              dataset.index->Where(batch.batch.rows[*computed.non_finite]),
                                              " of the samples from ", dataset.index->Where(batch.batch.rows.front()),
                                              " to ", dataset.index->Where(batch.batch.rows.back()),
                                              "; try a lower learning rate"));
    }
    // A rank without samples pushes nothing: zeros would still move Adam's moments.
    const bool empty = batch.batch.size == 0;
    ROWAN_RETURN_IF_ERROR(step->Push(empty ? std::vector<RowsPush>() : model.RowGradients(batch),
                                     empty ? std::vector<DensePush>() : model.DenseGradients(), batch.batch.size)
                              .Wait());
    profile->Add(Profile::kPush, watch.Lap());
    ++progress.step;
    progress.samples += batch.batch.size;
    progress.loss += computed.loss;
    progress.loss_samples += batch.batch.size;
    progress.auc.Add(model.logits(), batch.batch.labels);
    return absl::OkStatus();
  };
  callbacks.after_step = [&] { return after_step(&progress); };
  ROWAN_RETURN_IF_ERROR(RunTrainLoop({options.epochs, reader.steps(), options.pipeline}, callbacks, client,
                                     &result.profile));
  result.samples = progress.samples;
  result.steps = progress.step;
  result.bad_rows = reader.epoch_bad_rows().count();
  return result;
}

}  // namespace rowan
