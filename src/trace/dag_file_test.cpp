#include "trace/dag_file.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

namespace zeus::trace {
namespace {

std::string dag_refusal(std::string_view text) {
  try {
    parse_dag("graph.dag", text);
    return "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::corrupt_data);
    EXPECT_FALSE(error.advice().empty());
    return error.message();
  }
}

TEST(DagFile, ReadsProfilesComputationsAndDependencies) {
  const records::ComputationGraph graph = parse_dag("graph.dag",
                                                    "# two stages\n"
                                                    "profile fast 1410 0.04 10   # measured twice\r\n"
                                                    "profile fast 1200 0.05 8\n"
                                                    "profile load 0 0.002 0.1\n"
                                                    "\n"
                                                    "computation L 0 load\n"
                                                    "computation F0 0 fast forward\n"
                                                    "computation F1\t1  fast forward\n"
                                                    "dependency F0 F1 0.0005\n"
                                                    "copies 8");
  ASSERT_EQ(graph.profiles.size(), 2u);
  EXPECT_EQ(graph.profiles[0].options.size(), 2u);
  EXPECT_EQ(graph.profiles[0].options[1], (records::FrequencyOption{1200_MHz, 50_ms, 8_J}));
  ASSERT_EQ(graph.computations.size(), 3u);
  EXPECT_EQ(graph.computations[0].instruction, "L");
  EXPECT_EQ(graph.computations[2], (records::Computation{"F1", "forward", 1, 0}));
  EXPECT_EQ(graph.devices, 2u);
  EXPECT_EQ(graph.copies, 8u);
  const std::vector<records::Dependency> expected{{1, 2, 0.5_ms}, {0, 1, 0_s}};
  EXPECT_EQ(graph.dependencies, expected);
}

TEST(DagFile, ErrorsNameFileAndLine) {
  EXPECT_EQ(dag_refusal("profile a 1 1 1\nprofile a 1 x 1\n"), "graph.dag:2: 'x' is not a number from 0 to 1000000");
  EXPECT_EQ(dag_refusal("computation c 0 a\n"), "graph.dag:1: there is no profile 'a'");
  EXPECT_EQ(dag_refusal("profile a 1 1 1\ncomputation c 0 a\ncomputation c 0 a\n"),
            "graph.dag:3: the computation 'c' is listed twice");
  EXPECT_EQ(dag_refusal("profile a 1 1 1\ncomputation c 0 a\ndependency c d\n"),
            "graph.dag:3: there is no computation 'd'");
  EXPECT_EQ(dag_refusal("profile a 1 1\n"), "graph.dag:1: a profile with 4 fields");
  EXPECT_EQ(dag_refusal("edge a b\n"), "graph.dag:1: 'edge' is not a statement");
  EXPECT_EQ(dag_refusal("profile a 1 -1 1\n"), "graph.dag:1: '-1' is not a number from 0 to 1000000");
  EXPECT_EQ(dag_refusal("profile a 1 nan 1\n"), "graph.dag:1: 'nan' is not a number from 0 to 1000000");
  EXPECT_EQ(dag_refusal("profile a 1 1 1\ncomputation c 99999999999999999999 a\n"),
            "graph.dag:2: '99999999999999999999' is not a whole number from 0 to 999999");
  EXPECT_EQ(dag_refusal("copies 0\n"), "graph.dag:1: '0' is not a whole number from 1 to 10000000");
  EXPECT_EQ(dag_refusal(""), "graph.dag:0: there is no computation");
}

}  // namespace
}  // namespace zeus::trace
