#include "server/openapi.hpp"

#include "base/file_tree.hpp"
#include "records/json_value.hpp"
#include "tests/support/golden.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace zeus::server {
namespace {

constexpr std::string_view from{"<!-- written from the table of routes: make golden -->\n"};

TEST(OpenApi, MatchesTheReviewedDocument) {
  test::expect_golden("server/openapi.json", openapi_document(all_routes(), "0.1.0"));
}

// The document has text of its own above a mark, and this table below it.
TEST(OpenApi, MatchesTheDocumentation) {
  const FileTree source{ZEUS_SOURCE_FOLDER};
  const std::string now = source.read("docs/http.md", std::size_t{1} << 20).value_or("");
  const std::size_t mark = now.find(from);
  ASSERT_NE(mark, std::string::npos);
  test::expect_golden("../../docs/http.md", now.substr(0, mark + from.size()) + "\n" + markdown(all_routes()));
}

TEST(OpenApi, NamesEachOperationOnce) {
  std::set<std::string_view> names;
  std::set<std::string> ways;
  for (const Route& route : all_routes()) {
    EXPECT_TRUE(names.insert(route.id).second) << route.id;
    EXPECT_TRUE(ways.insert(std::string{route.method} + std::string{route.path}).second) << route.path;
    EXPECT_FALSE(route.outcomes.empty()) << route.id;
    EXPECT_TRUE(route.work || route.stream) << route.id;
  }
}

TEST(OpenApi, DescribesEverythingItRefersTo) {
  const std::string text = openapi_document(all_routes(), "0.1.0");
  const auto document = records::JsonValue::parse(text);
  ASSERT_TRUE(document);
  const records::JsonValue& schemas = (*document)["components"]["schemas"];
  constexpr std::string_view mark{"\"#/components/schemas/"};
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
    const std::size_t begin = at + mark.size();
    EXPECT_NE(schemas.find(text.substr(begin, text.find('"', begin) - begin)), nullptr);
  }
}

}  // namespace
}  // namespace zeus::server
