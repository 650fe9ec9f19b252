// Writes the table of routes as documents: OpenAPI 3.1 for programs, docs/http.md for people. Pure functions; any
// thread.
#pragma once

#include "server/route.hpp"

#include <string>
#include <vector>

namespace zeus::server {

// A status with which an operation may refuse, and its meaning.
struct Refused {
  int status = 400;
  std::string_view meaning;
};
std::vector<Refused> refusals_of(const Route& route);

std::string openapi_document(const std::vector<Route>& routes, const std::string& version);
// The tables of docs/http.md, which stand between its marks.
std::string markdown(const std::vector<Route>& routes);

}  // namespace zeus::server
