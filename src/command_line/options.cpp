#include "command_line/options.hpp"

#include "base/printable.hpp"
#include "command_line/value_text.hpp"

#include <zeus/error.hpp>
#include <zeus/units.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace zeus::command_line {

namespace {

template <typename Value>
struct Single {
  using Type = Value;
};
template <typename Value>
struct Single<std::optional<Value>> : Single<Value> {};
template <typename Value>
struct Single<std::vector<Value>> : Single<Value> {};

template <typename Value>
constexpr const char* usual_name() {
  if constexpr (std::is_integral_v<Value>) {
    return "N";
  } else if constexpr (std::is_same_v<Value, Seconds>) {
    return "TIME";
  } else if constexpr (std::is_same_v<Value, Watts>) {
    return "POWER";
  } else {
    return std::is_floating_point_v<Value> ? "X" : "TEXT";
  }
}

template <typename Value>
std::string text_of(const Value& value) {
  if constexpr (std::is_same_v<Value, Seconds>) {
    return fmt::format("{}s", value.value());
  } else if constexpr (std::is_same_v<Value, Watts>) {
    return fmt::format("{}W", value.value());
  } else if constexpr (field::is_optional<Value> || field::is_list<Value>) {
    return {};
  } else {
    return fmt::format("{}", value);
  }
}

template <typename Value>
void take_into(Value& variable, std::string_view text, const field::Rule& rule) {
  typename Single<Value>::Type value{};
  read_value(text, rule, value);
  variable = std::move(value);
}

template <typename Value>
void take_into(std::vector<Value>& variable, std::string_view text, const field::Rule& rule) {
  Value value{};
  read_value(text, rule, value);
  variable.push_back(std::move(value));
}

template <typename Value>
void take_into(std::optional<std::vector<Value>>& variable, std::string_view text, const field::Rule& rule) {
  take_into(variable ? *variable : variable.emplace(), text, rule);
}

bool is_true(std::string_view word) {
  if (!word.empty() && word != "true" && word != "false") {
    throw Error{ErrorKind::invalid_argument, fmt::format("{} is not true or false", in_quotes(word))};
  }
  return word != "false";
}

}  // namespace

Option& Option::required() {
  syntax_->required = true;
  return *this;
}

Option& Option::also(std::string_view name) {
  syntax_->also = name;
  return *this;
}

Option& Option::value_name(std::string_view name) {
  syntax_->value_name = name;
  return *this;
}

Option& Option::delimiter(char between) {
  syntax_->delimiter = between;
  return *this;
}

Option& Option::with_default() {
  return with_default(present_);
}

Option& Option::with_default(std::string_view words) {
  syntax_->default_text = words;
  return *this;
}

Option& Option::among(std::vector<std::string> words) {
  syntax_->value_name = fmt::format("{}", fmt::join(words, "|"));
  syntax_->words = std::move(words);
  return *this;
}

Option& Option::rule(const field::Rule& rule) {
  syntax_->rule = rule;
  return *this;
}

Option& Option::no_command() {
  syntax_->may_be_empty = syntax_->of_a_command = false;
  return *this;
}

Option& Option::path() {
  syntax_->is_path = true;
  syntax_->value_name = "FILE";
  return *this;
}

Option& Option::goes_with(Option& other) {
  syntax_->goes_with = other.syntax_;
  other.syntax_->goes_with = syntax_;
  return *this;
}

Option& Option::excludes(Option& other) {
  syntax_->excludes = other.syntax_;
  other.syntax_->excludes = syntax_;
  return *this;
}

OptionSyntax& Options::add(const std::string& name, const std::string& help) {
  OptionSyntax& added = name.starts_with("--") ? syntax_->options.emplace_back() : syntax_->arguments.emplace_back();
  added.name = name;
  added.help = help;
  added.group = group_;
  return added;
}

template <typename Value>
Option Options::add_option(const std::string& name, Value& variable, const std::string& help) {
  OptionSyntax& added = add(name, help);
  constexpr bool several =
      field::is_list<Value> || std::is_same_v<Value, std::optional<std::vector<typename Single<Value>::Type>>>;
  added.takes = several ? OptionSyntax::Takes::values : OptionSyntax::Takes::a_value;
  added.value_name = usual_name<typename Single<Value>::Type>();
  added.may_be_empty = added.of_a_command = several && !name.starts_with("--");
  added.take = [&variable, &added](std::string_view text) { take_into(variable, text, added.rule); };
  return {added, text_of(variable)};
}

template Option Options::add_option(const std::string&, int&, const std::string&);
template Option Options::add_option(const std::string&, double&, const std::string&);
template Option Options::add_option(const std::string&, std::uint64_t&, const std::string&);
template Option Options::add_option(const std::string&, std::string&, const std::string&);
template Option Options::add_option(const std::string&, Seconds&, const std::string&);
template Option Options::add_option(const std::string&, Watts&, const std::string&);
template Option Options::add_option(const std::string&, std::optional<int>&, const std::string&);
template Option Options::add_option(const std::string&, std::optional<double>&, const std::string&);
template Option Options::add_option(const std::string&, std::optional<std::uint64_t>&, const std::string&);
template Option Options::add_option(const std::string&, std::optional<std::string>&, const std::string&);
template Option Options::add_option(const std::string&, std::optional<Seconds>&, const std::string&);
template Option Options::add_option(const std::string&, std::vector<int>&, const std::string&);
template Option Options::add_option(const std::string&, std::vector<std::string>&, const std::string&);
template Option Options::add_option(const std::string&, std::vector<Seconds>&, const std::string&);
template Option Options::add_option(const std::string&, std::optional<std::vector<int>>&, const std::string&);

void Options::add_flag(const std::string& name, bool& variable, const std::string& help) {
  OptionSyntax& added = add(name, help);
  added.takes = OptionSyntax::Takes::nothing;
  added.take = [&variable](std::string_view word) { variable = is_true(word); };
}

void Options::add_flag(const std::string& name, std::optional<bool>& variable, const std::string& help) {
  OptionSyntax& added = add(name, help);
  added.takes = OptionSyntax::Takes::nothing;
  added.take = [&variable](std::string_view word) { variable = is_true(word); };
}

Option Options::add_flag(const std::string& name, std::string& variable, const std::string& bare,
                         const std::string& help) {
  OptionSyntax& added = add(name, help);
  added.takes = OptionSyntax::Takes::perhaps_a_word;
  added.take = [&variable, bare](std::string_view word) { variable = word.empty() ? bare : word; };
  return {added, {}};
}

void Options::add_command(AnyCommand& command, std::function<void()> named) {
  CommandSyntax& added = syntax_->commands.emplace_back();
  added.name = command.name();
  added.path = fmt::format("{} {}", syntax_->path, added.name);
  added.summary = command.summary();
  added.more = syntax_->more;
  added.closing = added.more;
  added.named = std::move(named);
  Options options{added};
  command.declare(options);
}

}  // namespace zeus::command_line
