#include "research/cluster_trace.hpp"

#include "research/xz.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

namespace zeus::research {
namespace {

template <typename Parse>
std::string refusal(Parse parse) {
  try {
    parse();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(ClusterTrace, GroupsAreSortedWhateverTheRowOrder) {
  const std::string header = "group,start_time,end_time,dataset,runtime_ratio\n";
  const auto groups = parse_cluster_trace("c.csv", header + "b,5,9,squad,1\na,7,8,squad,1\na,1,3,squad,2\n");
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].name, "a");
  EXPECT_EQ(groups[0].jobs[0].start, 1_s);
  EXPECT_EQ(groups[0].dataset, "squad");
}

TEST(ClusterTrace, RawTracesKeepWhatTerminated) {
  const auto groups =
      parse_cluster_trace("c.csv", "group,start_time,end_time,status\na,1,2,Terminated\na,1,2,Failed\n");
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].jobs.size(), 1U);
  EXPECT_FALSE(groups[0].dataset);
}

TEST(ClusterTrace, AGroupMayHaveJobsInSeveralFiles) {
  const std::string header = "group,start_time,end_time,dataset,runtime_ratio\n";
  const std::vector<std::string> rows{"b,5,9,squad,1\n", "a,7,8,squad,1\n", "a,1,3,squad,2\n", "b,2,4,squad,3\n"};
  const auto whole = parse_cluster_trace("c.csv", header + rows[0] + rows[1] + rows[2] + rows[3]);
  std::vector<ClusterGroup> parts;
  for (const std::string& row : rows) {
    parts.push_back(parse_cluster_trace("part.csv", header + row).front());
  }
  const auto groups = joined_groups(parts);
  ASSERT_EQ(groups.size(), whole.size());
  for (std::size_t i = 0; i < groups.size(); ++i) {
    EXPECT_EQ(groups[i].name, whole[i].name);
    ASSERT_EQ(groups[i].jobs.size(), 2U);
    for (std::size_t j = 0; j < 2; ++j) {
      EXPECT_EQ(groups[i].jobs[j].start, whole[i].jobs[j].start);
      EXPECT_EQ(groups[i].jobs[j].runtime_ratio, whole[i].jobs[j].runtime_ratio);
    }
  }
  parts[1].dataset = "imagenet";
  EXPECT_TRUE(refusal([&] { joined_groups(parts); }).starts_with("group a has two data sets, imagenet and squad"));
  parts[1].dataset.reset();
  EXPECT_TRUE(refusal([&] { joined_groups(parts); }).starts_with("group a has two data sets, none and squad"));
}

TEST(ClusterTrace, RefusesWhatCannotBe) {
  const std::string header = "group,start_time,end_time,dataset,runtime_ratio\n";
  for (const char* row : {"a,5,4,squad,1", "a,-1,4,squad,1", "a,1,4,squad,0", "a,1,nan,squad,1", "a,1,4,,1"}) {
    EXPECT_TRUE(refusal([&] { parse_cluster_trace("c.csv", header + row); }).starts_with("c.csv:2: ")) << row;
  }
  EXPECT_TRUE(refusal([&] {
                parse_cluster_trace("c.csv", header + "a,1,2,squad,1\na,1,2,imagenet,1");
              }).starts_with("c.csv:3: "));
}

TEST(Xz, RefusesWhatIsDamaged) {
  const std::string begin{
      "\xFD"
      "7zXZ\0",
      6};
  EXPECT_TRUE(is_xz(begin));
  EXPECT_FALSE(is_xz("group,start"));
  EXPECT_TRUE(refusal([&] { unpack_xz("f.xz", begin + "rubbish"); }).starts_with("f.xz is damaged"));
}

}  // namespace
}  // namespace zeus::research
