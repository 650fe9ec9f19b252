#include "research/slice_trace.hpp"

#include "research/paper_capriccio.hpp"
#include "tests/support/small_workload.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace zeus::research {
namespace {

const std::string slice_header = "slice,batch_size,run,target_epoch\n";

std::string refusal_of(const std::string& text) {
  try {
    parse_slice_trace("e.csv", text);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

// An epoch at batch size 16 costs five at 128, and is enough; at 128 three are, and from a slice on, and in slice
// `once`, nine or more.
std::string drifting(int slices, int from, int once = 0) {
  std::string text = slice_header;
  for (int slice = 1; slice <= slices; ++slice) {
    for (int run = 0; run < 4; ++run) {
      text += fmt::format("{0},16,{1},1\n{0},128,{1},{2}\n", slice, run, slice < from && slice != once ? 3 : 9 + run);
    }
  }
  return text;
}

PaperGpu small_gpu() {
  return {.name = "V100", .workloads = {{.name = "BERT (SA)", .workload = simulate::small_workload()}}};
}

const records::FindingsTable& table_in(const records::FindingsSection& section) {
  for (const records::FindingsFigure& figure : section.figures) {
    if (const auto* const table = std::get_if<records::FindingsTable>(&figure)) {
      return *table;
    }
  }
  throw std::runtime_error{"no table"};
}

TEST(SliceTrace, HasTheRunsOfEachBatchSizeBySlice) {
  const SliceTrace trace = parse_slice_trace("e.csv", slice_header + "2,8,0,5\n1,16,0,\n1,8,0,3\n1,8,1,2\n2,16,0,7\n");
  ASSERT_EQ(trace.slices.size(), 2U);
  ASSERT_EQ(trace.slices[0].size(), 2U);
  EXPECT_EQ(trace.slices[0][0].runs, (std::vector<std::optional<int>>{2, 3}));
  EXPECT_EQ(trace.slices[0][1].runs, (std::vector<std::optional<int>>{std::nullopt}));
  EXPECT_EQ(trace.slices[1][1].runs, (std::vector<std::optional<int>>{7}));
}

TEST(SliceTrace, NamesWhatIsWrongWithItsLine) {
  for (const char* row : {"0,8,0,5", "1,0,0,5", "1,8,0,0", "1,8,0,x", "1,8,0"}) {
    EXPECT_TRUE(refusal_of(slice_header + row).starts_with("e.csv:2: "))
        << row << " gave " << refusal_of(slice_header + row);
  }
  EXPECT_TRUE(refusal_of("slice,run\n").starts_with("e.csv:1: "));
  EXPECT_TRUE(refusal_of(slice_header).starts_with("e.csv: no training is recorded"));
  EXPECT_TRUE(refusal_of(slice_header + "1,8,0,5\n3,8,0,5\n").starts_with("e.csv: slice 2 is missing"));
  EXPECT_TRUE(refusal_of(slice_header + "1,8,0,5\n1,16,0,5\n2,8,0,5\n")
                  .starts_with("e.csv: slice 2 has no run at batch size 16"));
}

TEST(SliceTrace, NeedsTheCostOfAnEpochAtEachBatchSize) {
  const SliceTrace trace = parse_slice_trace("e.csv", slice_header + "1,24,0,5\n");
  EXPECT_THROW(slice_workloads(trace, simulate::small_workload()), Error);
}

TEST(CapriccioSection, SeesTheDriftAndHowSoonEachPolicyUsesAnotherBatchSize) {
  const records::FindingsSection section =
      capriccio_section(small_gpu(), parse_slice_trace("e.csv", drifting(38, 21)), 5);
  EXPECT_NE(section.paragraphs[0].find("sets in with slice 21"), std::string::npos) << section.paragraphs[0];
  const records::FindingsTable& table = table_in(section);
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(table.rows[0][1], "1.000");
  EXPECT_EQ(table.rows[0][4], "0 of 5");
  EXPECT_EQ(table.rows[1][4], "5 of 5");
  EXPECT_EQ(table.rows[2][4], "5 of 5");
  EXPECT_EQ(table.columns[5], "the same on the first slice alone");
  EXPECT_EQ(table.rows[0][5], "0 of 5");
  EXPECT_EQ(table.rows[2][5], "0 of 5");
}

TEST(CapriccioSection, SaysForHowManySlicesTheOldBestCostsMore) {
  const records::FindingsSection section =
      capriccio_section(small_gpu(), parse_slice_trace("e.csv", drifting(38, 21, 15)), 1);
  EXPECT_NE(section.paragraphs[0].find("sets in with slice 15"), std::string::npos) << section.paragraphs[0];
  EXPECT_NE(section.paragraphs[0].find("for 19 of the 24 slices"), std::string::npos) << section.paragraphs[0];
}

TEST(CapriccioSection, CountsNoChangesBeforeADriftThatComesAtOnce) {
  const records::FindingsTable table =
      table_in(capriccio_section(small_gpu(), parse_slice_trace("e.csv", drifting(38, 6)), 1));
  EXPECT_EQ(table.rows[1][6], "");
  EXPECT_EQ(table.rows[1][7], "");
}

TEST(CapriccioSection, CountsTheChangesOfBatchSizeOfEachSeed) {
  const records::FindingsSection section =
      capriccio_section(small_gpu(), parse_slice_trace("e.csv", drifting(38, 21)), 3);
  const auto changes_of = [&](const std::string& policy) -> std::vector<std::vector<double>> {
    for (const records::FindingsFigure& figure : section.figures) {
      const auto* const samples = std::get_if<records::FindingsSamples>(&figure);
      if (samples != nullptr && samples->key == "slices_changes_of_" + policy) {
        return samples->values;
      }
    }
    return {};
  };
  // Before the drift, without one, with it, without one.
  EXPECT_EQ(changes_of("default"), (std::vector<std::vector<double>>(4, std::vector<double>(3))));
  const std::vector<std::vector<double>> changes = changes_of("lookahead");
  ASSERT_EQ(changes.size(), 4U);
  EXPECT_EQ(changes[0], changes[1]);
  for (std::size_t seed = 0; seed < 3; ++seed) {
    EXPECT_GT(changes[2][seed], changes[3][seed]);
  }
}

TEST(CapriccioSection, SaysThatNothingDrifts) {
  const records::FindingsSection section =
      capriccio_section(small_gpu(), parse_slice_trace("e.csv", drifting(38, 99)), 2);
  EXPECT_NE(section.paragraphs[0].find("No slice makes another batch size best"), std::string::npos);
  EXPECT_EQ(table_in(section).rows[1][4], "no drift");
}

TEST(CapriccioSection, NeedsTheJobOfTweets) {
  PaperGpu gpu = small_gpu();
  gpu.workloads[0].name = "NeuMF";
  EXPECT_THROW(capriccio_section(gpu, parse_slice_trace("e.csv", drifting(5, 3)), 1), Error);
}

}  // namespace
}  // namespace zeus::research
