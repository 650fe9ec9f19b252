// The state of an object as a string and back, exactly: for caches that a later process continues from. Both directions
// run through one function of the object, so that they cannot drift apart:
//
//   template <typename Archive, typename Self>
//   static void state(Archive& archive, Self& self) { archive(self.count_, self.costs_); }
//
// Supports whole numbers, doubles (bit by bit), booleans, enums, strings, quantities, optionals, pairs, vectors,
// arrays, maps, variants, records that describe themselves (zeus/fields.hpp), and any type with such a function. A
// string that was not written this way is a corrupt_data Error. One thread at a time.
#pragma once

#include <zeus/error.hpp>
#include <zeus/fields.hpp>
#include <zeus/units.hpp>

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace zeus {

class StateWriter {
 public:
  template <typename... Members>
  void operator()(const Members&... members) {
    (add(members), ...);
  }

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  void add_word(std::uint64_t word);
  void add(const std::string& text);
  void add(std::integral auto number) { add_word(static_cast<std::uint64_t>(number)); }
  void add(double number) { add_word(std::bit_cast<std::uint64_t>(number)); }
  template <typename Enum>
    requires std::is_enum_v<Enum>
  void add(Enum value) {
    add(static_cast<std::int64_t>(value));
  }
  template <Dimension D, typename Scale>
  void add(Quantity<D, Scale> quantity) {
    add(quantity.value());
  }
  template <typename Value>
  void add(const std::optional<Value>& value) {
    add(value.has_value());
    if (value) {
      add(*value);
    }
  }
  template <typename First, typename Second>
  void add(const std::pair<First, Second>& both) {
    add(both.first);
    add(both.second);
  }
  template <typename Value>
  void add(const std::vector<Value>& values) {
    add(values.size());
    for (const auto& value : values) {
      add(static_cast<const Value&>(value));
    }
  }
  template <typename Value, std::size_t Size>
  void add(const std::array<Value, Size>& values) {
    for (const Value& value : values) {
      add(value);
    }
  }
  template <typename Key, typename Value>
  void add(const std::map<Key, Value>& values) {
    add(values.size());
    for (const auto& [key, value] : values) {
      add(key);
      add(value);
    }
  }
  template <typename... Kinds>
  void add(const std::variant<Kinds...>& one) {
    add(one.index());
    std::visit([this](const auto& known) { this->add(known); }, one);
  }
  template <typename Object>
    requires requires(StateWriter& writer, const Object& object) { Object::state(writer, object); }
  void add(const Object& object) {
    Object::state(*this, object);
  }
  void add(const field::Described auto& record) {
    const auto fields = [this](std::string_view, const auto& member, const auto&...) { this->add(member); };
    std::remove_cvref_t<decltype(record)>::describe(fields, record);
  }

  std::string text_;
};

class StateReader {
 public:
  // `text` must outlive the reader.
  explicit StateReader(std::string_view text) : rest_{text} {}

  template <typename... Members>
  void operator()(Members&... members) {
    (take(members), ...);
  }

  // True once everything has been read.
  [[nodiscard]] bool done() const { return rest_.empty(); }

 private:
  [[noreturn]] static void refuse();
  std::uint64_t take_word();
  void take(std::string& text);
  template <std::integral Number>
  void take(Number& number) {
    const std::uint64_t word = take_word();
    number = static_cast<Number>(word);
    if (static_cast<std::uint64_t>(number) != word) {
      refuse();
    }
  }
  void take(double& number) { number = std::bit_cast<double>(take_word()); }
  template <typename Enum>
    requires std::is_enum_v<Enum>
  void take(Enum& value) {
    std::int64_t number = 0;
    take(number);
    value = static_cast<Enum>(number);
  }
  template <Dimension D, typename Scale>
  void take(Quantity<D, Scale>& quantity) {
    double number = 0.0;
    take(number);
    quantity = Quantity<D, Scale>{number};
  }
  template <typename Value>
  void take(std::optional<Value>& value) {
    bool present = false;
    take(present);
    value.reset();
    if (present) {
      take(value.emplace());
    }
  }
  template <typename First, typename Second>
  void take(std::pair<First, Second>& both) {
    take(both.first);
    take(both.second);
  }
  template <typename Value>
  void take(std::vector<Value>& values) {
    std::uint64_t size = 0;
    take(size);
    if (size > rest_.size()) {  // every member takes at least one character
      refuse();
    }
    values.clear();
    for (std::uint64_t index = 0; index < size; ++index) {
      if constexpr (std::is_same_v<Value, bool>) {
        bool value = false;
        take(value);
        values.push_back(value);
      } else {
        take(values.emplace_back());
      }
    }
  }
  template <typename Value, std::size_t Size>
  void take(std::array<Value, Size>& values) {
    for (Value& value : values) {
      take(value);
    }
  }
  template <typename Key, typename Value>
  void take(std::map<Key, Value>& values) {
    std::vector<std::pair<Key, Value>> members;
    take(members);
    values = {members.begin(), members.end()};
  }
  template <typename... Kinds>
  void take(std::variant<Kinds...>& one) {
    std::size_t index = 0;
    take(index);
    if (index >= sizeof...(Kinds)) {
      refuse();
    }
    std::size_t place = 0;
    static_cast<void>(((place++ == index && (take(one.template emplace<Kinds>()), true)) || ...));
  }
  template <typename Object>
    requires requires(StateReader& reader, Object& object) { Object::state(reader, object); }
  void take(Object& object) {
    Object::state(*this, object);
  }
  void take(field::Described auto& record) {
    const auto fields = [this](std::string_view, auto& member, const auto&...) { this->take(member); };
    std::remove_cvref_t<decltype(record)>::describe(fields, record);
  }

  std::string_view rest_;
};

// Adds a checksum in front, and removes it. A string that does not match its checksum (a failing disk may have changed
// it) is a corrupt_data Error.
std::string sealed(std::string_view text);
std::string_view unsealed(std::string_view text);

}  // namespace zeus
