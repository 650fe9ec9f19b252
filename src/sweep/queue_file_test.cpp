#include "sweep/queue_file.hpp"

#include "tests/support/temporary_folder.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace zeus::sweep {
namespace {

class QueueFileTest : public testing::Test {
 protected:
  void write(const std::string& text) const { std::ofstream{folder_.path() / "queue.yaml"} << text; }
  void add(const std::string& text) const { std::ofstream{folder_.path() / "queue.yaml", std::ios::app} << text; }
  [[nodiscard]] std::string content(const std::string& name) const {
    std::ifstream stream{folder_.path() / name};
    return {std::istreambuf_iterator<char>{stream}, {}};
  }
  [[nodiscard]] std::string first(QueueFile& queue) const {
    queue.refresh();
    return queue.first() != nullptr ? queue.first()->commands.front() : "nothing";
  }

  test::TemporaryFolder folder_;
};

TEST_F(QueueFileTest, EntriesMoveFromTheTopToTheConsumedOnes) {
  write("- a  # first\n- command: b\n  bs: [1, 2]\n- c\n");
  QueueFile queue{folder_.path()};
  EXPECT_EQ(first(queue), "a");
  EXPECT_EQ(queue.runs(), 4U);
  queue.move_first();
  queue.move_first();
  EXPECT_EQ(content("queue.yaml"), "- command: c\n");
  EXPECT_EQ(content("consumed.yaml"), "- command: a\n- command: b\n  bs:\n    - 1\n    - 2\n");
  EXPECT_EQ(queue.runs(), 1U);
  queue.move_first();
  EXPECT_EQ(content("queue.yaml"), "");
  EXPECT_EQ(first(queue), "nothing");
}

TEST_F(QueueFileTest, EntriesThatAreAddedOrRemovedMeanwhileCount) {
  write("- a\n- b\n");
  QueueFile queue{folder_.path()};
  EXPECT_EQ(first(queue), "a");
  queue.move_first();
  add("- c\n");
  EXPECT_EQ(first(queue), "b");
  queue.move_first();
  EXPECT_EQ(first(queue), "c");
  write("- d\n");
  EXPECT_EQ(first(queue), "d");
}

TEST_F(QueueFileTest, AMoveThatWasInterruptedIsKnownByItsSumAndConsumesOnce) {
  write("- a\n- b\n");
  QueueFile queue{folder_.path()};
  EXPECT_EQ(first(queue), "a");
  const std::string sum = queue.sum();
  queue.move_first();
  write("- a\n- b\n");  // as if only consumed.yaml had been written
  QueueFile again{folder_.path()};
  again.refresh();
  EXPECT_EQ(again.sum(), sum);
  again.move_first(QueueFile::Move::again);
  EXPECT_EQ(content("consumed.yaml"), "- command: a\n");
  EXPECT_EQ(content("queue.yaml"), "- command: b\n");
  again.refresh();
  EXPECT_NE(again.sum(), sum);
}

TEST_F(QueueFileTest, AnEditBetweenLookingAndTakingIsKept) {
  write("- a\n- b\n");
  QueueFile queue{folder_.path()};
  EXPECT_EQ(first(queue), "a");
  write("- new\n- a\n- command: c\n");
  queue.move_first();
  EXPECT_EQ(content("queue.yaml"), "- command: new\n- command: c\n");
  EXPECT_EQ(first(queue), "new");
  EXPECT_EQ(queue.runs(), 2U);
  write("- d\n");
  queue.move_first();
  EXPECT_EQ(content("queue.yaml"), "- d\n");
  EXPECT_EQ(content("consumed.yaml"), "- command: a\n- command: new\n");
}

TEST_F(QueueFileTest, TheLockIsFreeOnceItsHolderLetsGo) {
  const QueueFile queue{folder_.path()};
  {
    const QueueFile::Lock held = queue.lock();
    EXPECT_TRUE(static_cast<bool>(held));
    EXPECT_FALSE(static_cast<bool>(queue.lock()));
  }
  EXPECT_TRUE(static_cast<bool>(queue.lock()));
}

TEST_F(QueueFileTest, AFileThatIsNoQueueIsRefusedAndLeftAlone) {
  write("- a: [\n");
  QueueFile queue{folder_.path()};
  EXPECT_THROW(queue.refresh(), Error);
  EXPECT_EQ(content("queue.yaml"), "- a: [\n");
}

}  // namespace
}  // namespace zeus::sweep
