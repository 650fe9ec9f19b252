#include "jobs/transfer.hpp"

#include "jobs/job.hpp"
#include "store/open_store.hpp"
#include "tests/support/stored_jobs.hpp"
#include "tests/support/temporary_folder.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace zeus::jobs {
namespace {

using test::two_limit_v100;

records::JobDefinition moved_job() {
  return {.batch_sizes = {16, 32},
          .default_batch_size = 32,
          .target = {},
          .max_epochs = 50,
          .policy = "zeus",
          .max_slowdown = {},
          .device = two_limit_v100()};
}

class TransferTest : public testing::Test {
 protected:
  TransferTest() {
    Job job = Job::open(*store_, site_, "job", moved_job());
    for (int night = 0; night < 3; ++night) {
      Recurrence recurrence = job.begin(moved_job().device);
      recurrence.next();
      recurrence.finished(
          {.outcome = records::TryOutcome::reached,
           .progress = {.epochs = 10 + night,
                        .metric = 0.91,
                        .gpus = {{.gpu = "GPU-0", .energy = {.value = 900_J, .uncertainty = 1_J, .systematic = {}}}},
                        .time = 10_s},
           .limit = 100_W,
           .exit_code = 0});
    }
  }

  ErrorKind refused(const std::string& text) {
    try {
      import_job(*store_, site_, "other", text);
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::internal;
  }

  test::TemporaryFolder folder_;
  SystemClock clock_;
  Site site_ = this_site(clock_, FileTree{});
  std::unique_ptr<store::JobStore> store_ =
      store::open_store((folder_.path() / "jobs.sqlite").string(), store::Access::create, clock_);
};

TEST_F(TransferTest, AnImportedJobIsTheExportedOneUnderItsNewName) {
  const std::string text = export_job(*store_, "job");
  const store::StoredJob job = import_job(*store_, site_, "other", text);
  EXPECT_EQ(job.definition, moved_job());
  ExportedJob again = exported_job_from(export_job(*store_, "other"));
  EXPECT_EQ(again.name, "other");
  again.name = "job";
  EXPECT_EQ(export_text(again), text);
}

TEST_F(TransferTest, AListShowsAnImportedJobWithoutReadingItsHistory) {
  import_job(*store_, site_, "other", export_job(*store_, "job"));
  EXPECT_EQ(store_->without_summary(), std::vector<std::string>{});
}

TEST_F(TransferTest, RecurrencesThatRanDuringTheExportAreGivenUp) {
  Job job = *Job::find(*store_, site_, "job");
  Recurrence recurrence = job.begin(moved_job().device);
  recurrence.next();
  import_job(*store_, site_, "other", export_job(*store_, "job"));
  const records::JobView view = Job::find(*store_, site_, "other")->view();
  EXPECT_EQ(view.recurrences.back().state, records::RecurrenceState::given_up);
  EXPECT_EQ(view.tries.back().outcome, records::TryOutcome::lost);
  recurrence.finished({.left_out = {}});
}

TEST_F(TransferTest, RefusesATruncatedExportOfAnyLength) {
  const std::string text = export_job(*store_, "job");
  for (std::size_t length = 0; length + 1 < text.size(); length += 7) {
    EXPECT_EQ(refused(text.substr(0, length)), ErrorKind::corrupt_data) << length;
  }
  EXPECT_FALSE(store_->find("other"));
}

TEST_F(TransferTest, RefusesAnImpossibleHistory) {
  const std::string text = export_job(*store_, "job");
  const auto with = [&text](std::string_view part, std::string_view instead) {
    std::string changed = text;
    const std::size_t place = changed.find(part);
    EXPECT_NE(place, std::string::npos) << part;
    return changed.replace(place, part.size(), instead);
  };
  EXPECT_EQ(refused(with("\"batch_size\":32", "\"batch_size\":48")), ErrorKind::corrupt_data);
  EXPECT_EQ(refused(with("\"sequence\":2", "\"sequence\":3")), ErrorKind::corrupt_data);
  EXPECT_EQ(refused(with("\"try\":0", "\"try\":1")), ErrorKind::corrupt_data);
  EXPECT_EQ(refused(with("\"kind\":\"finished\"", "\"kind\":\"finishing\"")), ErrorKind::corrupt_data);
  EXPECT_EQ(refused(with("\"time_s\":10", "\"time_s\":-1")), ErrorKind::corrupt_data);
  EXPECT_EQ(refused(with("\"eta\":0.5", "\"eta\":5")), ErrorKind::corrupt_data);
  EXPECT_EQ(refused(with("\"zeus_job\":1", "\"zeus_job\":2")), ErrorKind::corrupt_data);
  EXPECT_EQ(refused(with("\"policy\":\"zeus\"", "\"policy\":\"guess\"")), ErrorKind::corrupt_data);
}

TEST_F(TransferTest, RefusesANameInUseAndAnEmptyName) {
  const std::string text = export_job(*store_, "job");
  EXPECT_THROW(import_job(*store_, site_, "job", text), Error);
  EXPECT_THROW(import_job(*store_, site_, "", text), Error);
  EXPECT_THROW(export_job(*store_, "none"), Error);
}

}  // namespace
}  // namespace zeus::jobs
