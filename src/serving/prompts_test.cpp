#include "serving/prompts.hpp"

#include "serving/served_models.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::serving {
namespace {

std::string refusal_of(std::string_view lines, Route route = Route::chat) {
  try {
    static_cast<void>(read_prompts(lines, route, 100));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::corrupt_data);
    return error.message();
  }
  return {};
}

TEST(Prompts, AreReadFromLines) {
  const auto prompts = read_prompts(
      "{\"prompt\":\"a\"}\n\n{\"messages\":[{\"role\":\"system\",\"content\":\"s\"},"
      "{\"role\":\"user\",\"content\":\"u\"}],\"max_tokens\":3}",
      Route::chat, 100);
  ASSERT_EQ(prompts.size(), 2U);
  EXPECT_EQ(prompts[0].messages, (std::vector<Message>{{"user", "a"}}));
  EXPECT_EQ(prompts[1].messages, (std::vector<Message>{{"system", "s"}, {"user", "u"}}));
  EXPECT_EQ(prompts[1].max_tokens, 3U);
}

TEST(Prompts, ABadLineIsNamed) {
  EXPECT_EQ(refusal_of("{\"prompt\":\"a\"}\n{\"prompt\":7}\n"), "line 2 is not a prompt: its 'prompt' is not a string");
  EXPECT_EQ(refusal_of("\n[1]"), "line 2 is not a prompt: it is not a JSON object");
  EXPECT_EQ(refusal_of("{\"messages\":[]}"), "line 1 is not a prompt: its 'messages' are not a list with at least one");
  EXPECT_EQ(refusal_of("{\"prompt\":\"a\",\"max_tokens\":0}"),
            "line 1 is not a prompt: its 'max_tokens' is not a whole number from 1 to 1,000,000");
  EXPECT_EQ(refusal_of("{\"messages\":[{\"role\":\"user\",\"content\":\"u\"}]}", Route::completions),
            "line 1 is not a prompt: a completion has a 'prompt' and no 'messages'");
}

TEST(Prompts, LinesThatAreNotNeededAreNotRead) {
  EXPECT_EQ(read_prompts("{\"prompt\":\"a\"}\nnonsense", Route::chat, 1).size(), 1U);
}

TEST(Prompts, MadeUpOnesDifferFromTheirFirstWordOn) {
  std::set<std::string> begins;
  for (const Prompt& prompt : synthetic_prompts(500, 20, 3)) {
    const std::string& text = prompt.messages.front().content;
    begins.insert(text.substr(0, text.find(' ')));
    EXPECT_EQ(std::count(text.begin(), text.end(), ' '), 19);
  }
  EXPECT_EQ(begins.size(), 500U);
  // Of another seed, they differ from these, too: a server may have kept them.
  EXPECT_FALSE(begins.contains(synthetic_prompts(1, 1, 4).front().messages.front().content));
}

TEST(RequestBody, HasABoundASeedAndAsksForCounts) {
  const Prompt prompt{.messages = {{"user", "say \"a\""}}};
  EXPECT_EQ(
      request_body({.route = Route::chat, .model = "m", .max_tokens = 9, .seed = 100, .ignore_eos = true}, prompt, 3),
      R"({"model":"m","messages":[{"role":"user","content":"say \"a\""}],"max_tokens":9,"seed":103,"stream":true,)"
      R"("stream_options":{"include_usage":true},"ignore_eos":true})");
  EXPECT_EQ(request_body({.route = Route::completions, .model = "m", .max_tokens = 9}, prompt, 0),
            R"({"model":"m","prompt":"say \"a\"","max_tokens":9,"seed":0,"stream":true,)"
            R"("stream_options":{"include_usage":true}})");
}

TEST(ServedModels, TheOnlyOneIsAskedAndOneOfSeveralIsNamed) {
  const auto one = read_models(R"({"data":[{"id":"a","owned_by":"vllm"}]})");
  EXPECT_EQ(only_model(one).id, "a");
  EXPECT_TRUE(has_ignore_eos(one.front()));
  const auto two = read_models(R"({"data":[{"id":"a"},{"id":"b"}]})");
  EXPECT_FALSE(has_ignore_eos(two.front()));
  EXPECT_THROW(static_cast<void>(only_model(two)), Error);
  EXPECT_THROW(static_cast<void>(only_model({})), Error);
  EXPECT_THROW(static_cast<void>(read_models(R"({"data":7})")), Error);
  EXPECT_THROW(static_cast<void>(read_models("<html>")), Error);
}

}  // namespace
}  // namespace zeus::serving
