#include "trace/csv_reader.hpp"
#include "trace/power_trace.hpp"
#include "trace/train_trace.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <string>

namespace zeus::trace {
namespace {

const std::string train_header = "dataset,network,batch_size,optimizer,learning_rate,run,target_metric,target_epoch\n";
const std::string power_header = "dataset,network,batch_size,optimizer,power_limit,time_per_epoch,average_power\n";

template <typename Parse>
std::string failure(Parse parse) {
  try {
    parse();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(TrainTrace, AnEmptyTargetEpochIsARunThatNeverGotThere) {
  const TrainTrace trace = parse_train_trace(
      "t.csv", train_header + "d,n,32,sgd,0.1,1,0.5,7\r\n\nd,n,32,sgd,0.1,2,0.5,\nd,n,32,sgd,,3,.5,nan\n");
  ASSERT_EQ(trace.runs.size(), 3U);
  EXPECT_EQ(trace.runs[0].target_epoch, 7);
  EXPECT_EQ(trace.runs[1].target_epoch, std::nullopt);
  EXPECT_EQ(trace.runs[2].target_epoch, std::nullopt);
  EXPECT_EQ(trace.runs[2].target_metric, 0.5);
}

TEST(TrainTrace, ErrorsNameFileAndLine) {
  for (const char* row :
       {"d,n,0,sgd,1,1,0.5,7", "d,n,1e99,sgd,1,1,0.5,7", "d,n,32,sgd,1,1,nan,7", "d,n,32,sgd,1,1,0.5,-7",
        "d,n,32,sgd,1,1,0.5,1.5", "d,n,32,sgd,1,1,0.5", ",n,32,sgd,1,1,0.5,7", "d,n,32,sgd,1,1,0.5,7,8"}) {
    const std::string text = failure([&] { parse_train_trace("t.csv", train_header + "d,n,8,sgd,1,1,0.5,7\n" + row); });
    EXPECT_TRUE(text.starts_with("t.csv:3: ")) << row << " gave " << text;
  }
  EXPECT_TRUE(failure([] { parse_train_trace("t.csv", "dataset,network\n"); }).starts_with("t.csv:1: column"));
  EXPECT_TRUE(failure([] { parse_train_trace("t.csv", ""); }).starts_with("t.csv:1: "));
  const auto of_text = [](const std::string& text) { return failure([&] { parse_train_trace("t.csv", text); }); };
  EXPECT_TRUE(of_text("\xFF\xFE"
                      "d")
                  .starts_with("t.csv:1: this is UTF-16"));
  EXPECT_TRUE(of_text("d\x01,n\n").starts_with("t.csv:1: this is not plain text"));
  EXPECT_TRUE(of_text("dataset," + train_header).starts_with("t.csv:1: column 'dataset' appears twice"));
  EXPECT_LT(of_text(std::string(100'000, 'a')).size(), 500U);
}

TEST(PowerTrace, KeepsRowsAndTheLargestLimit) {
  const PowerTrace trace = parse_power_trace("p.csv", power_header + "d,n,8,sgd,100,2.5,90\n\"d\",n,8,sgd,250,2,200\n");
  EXPECT_EQ(trace.rows.size(), 2U);
  EXPECT_EQ(trace.max_power, 250_W);
  EXPECT_EQ(trace.rows[1].dataset, "d");
  EXPECT_EQ(trace.rows[1].profile.average_power, 200_W);
}

TEST(PowerTrace, RefusesWhatNoGpuDoes) {
  for (const char* row : {"d,n,8,sgd,-100,2,90", "d,n,8,sgd,100,-2,90", "d,n,8,sgd,100,0,90", "d,n,8,sgd,100,nan,90",
                          "d,n,8,sgd,100,inf,90", "d,n,8,sgd,100,2,-1", "d,n,8,sgd,100,2,0", "d,n,8,sgd,100,2,1e300",
                          "d,n,\"8,sgd,100,2,9"}) {
    EXPECT_TRUE(failure([&] { parse_power_trace("p.csv", power_header + row); }).starts_with("p.csv:2: ")) << row;
  }
}

}  // namespace
}  // namespace zeus::trace
