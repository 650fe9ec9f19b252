// Python's objects in C++, by the limited API of CPython 3.9: one compiled extension serves that version and all later
// ones. Values are converted by their type (from_python, to_python), and classes and functions of C++ are shown to
// Python (Class, add_function); values of any other class are objects of a class that was shown.
//
// Threads: everything needs Python's lock (the GIL), unless it says otherwise. Ownership: an Object is one reference.
// Failures: a Python exception is a PythonError in C++, with which the exception goes on; any other C++ exception
// becomes a Python one where Python called (set_exception).
#pragma once

#define Py_LIMITED_API 0x03090000  // NOLINT(readability-identifier-naming): Python's name
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace zeus::python {

[[noreturn]] void wait_for_the_end_of_the_process();

// Calls what may wait for the GIL. A daemon thread that asks for it after the interpreter's end is unwound by CPython
// before 3.14, which C++ cannot bear in a destructor: the whole process would abort. The thread stays here instead, as
// it does from 3.14 on, and the process ends without it.
template <typename Ask>
auto unless_python_has_ended(const Ask& ask) {
  try {
    return ask();
  } catch (...) {  // nothing else comes out of Python's C functions
    wait_for_the_end_of_the_process();
  }
}

// Holds the GIL meanwhile, in any thread.
class WithGil {
 public:
  WithGil() : state_{unless_python_has_ended(PyGILState_Ensure)} {}
  WithGil(const WithGil&) = delete;
  WithGil& operator=(const WithGil&) = delete;
  ~WithGil() { PyGILState_Release(state_); }

 private:
  PyGILState_STATE state_;
};

// Runs `work` without the GIL.
template <typename Work>
auto without_gil(const Work& work) {
  struct Released {
    Released() : thread{PyEval_SaveThread()} {}
    Released(const Released&) = delete;
    Released& operator=(const Released&) = delete;
    ~Released() {
      unless_python_has_ended([this] { PyEval_RestoreThread(thread); });
    }
    PyThreadState* thread;
  };
  const Released released;
  return work();
}

class Object {
 public:
  Object() = default;
  Object(const Object& other) : held_{other.held_} { Py_XINCREF(held_); }
  Object(Object&& other) noexcept : held_{std::exchange(other.held_, nullptr)} {}
  Object& operator=(Object other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~Object() { Py_XDECREF(held_); }

  // Takes a new reference over; if Python failed to make one, throws its exception.
  static Object owned(PyObject* made);
  static Object borrowed(PyObject* object);
  static Object none() { return borrowed(Py_None); }

  [[nodiscard]] PyObject* get() const { return held_; }
  [[nodiscard]] PyObject* release() { return std::exchange(held_, nullptr); }
  [[nodiscard]] bool is_none() const { return held_ == Py_None; }

  [[nodiscard]] Object attribute(const char* name) const;
  void set_attribute(const char* name, const Object& value) const;
  template <typename... Arguments>
  Object operator()(const Arguments&... arguments) const;
  template <typename Value>
  [[nodiscard]] Value as() const;

 private:
  PyObject* held_ = nullptr;
};

// Python's exception, which was set, as one of C++. Any thread may copy and destroy it.
class PythonError {
 public:
  PythonError();
  // Sets it again.
  void restore() const;
  [[nodiscard]] std::string text() const;  // "ValueError: no such GPU"
  // KeyboardInterrupt, SystemExit: what an `except Exception` lets through.
  [[nodiscard]] bool ends_the_program() const;

 private:
  struct Parts {
    PyObject* type = nullptr;
    PyObject* value = nullptr;
    PyObject* trace = nullptr;
  };
  std::shared_ptr<const Parts> parts_;
};

[[noreturn]] void fail(PyObject* type, const std::string& message);
[[noreturn]] void fail_to_convert(const char* wanted, PyObject* given);

// The C++ exception that is being handled becomes Python's. bind_errors.cpp adds zeus::Error to it.
void set_exception() noexcept;

class List : public Object {
 public:
  List() : Object{owned(PyList_New(0))} {}
  template <typename Value>
  void append(const Value& value);
};

class Dict : public Object {
 public:
  Dict() : Object{owned(PyDict_New())} {}
  template <typename Key, typename Value>
  void set(const Key& key, const Value& value);
};

template <typename... Values>
Object tuple_of(const Values&... values);

// -- The classes of C++ that Python sees.

template <typename Shown>
struct Instance {
  PyObject_HEAD  //
      Shown* shown;
};

// The Python class of a C++ class, once it was shown.
template <typename Shown>
struct ClassOf {
  static inline PyTypeObject* type = nullptr;
  static inline const char* name = "";
  static inline PyObject* (*make)(PyObject* arguments, PyObject* keywords) = nullptr;
};

// Objects whose destruction may wait for a thread, a device or other ranks are destroyed without the GIL.
template <typename Shown>
inline constexpr bool waits_to_end = false;

template <typename Shown>
Object instance_of(std::unique_ptr<Shown> shown) {
  auto* const allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(ClassOf<Shown>::type, Py_tp_alloc));
  Object made = Object::owned(allocate(ClassOf<Shown>::type, 0));
  reinterpret_cast<Instance<Shown>*>(made.get())->shown = shown.release();
  return made;
}

template <typename Shown>
Shown& shown_of(PyObject* object) {
  if (Py_TYPE(object) != ClassOf<Shown>::type) {
    fail_to_convert(ClassOf<Shown>::name, object);
  }
  return *reinterpret_cast<Instance<Shown>*>(object)->shown;
}

// -- Conversions.

namespace kind {
template <typename, template <typename...> typename>
inline constexpr bool is = false;
template <typename... Inside, template <typename...> typename Outside>
inline constexpr bool is<Outside<Inside...>, Outside> = true;
template <typename Value>
inline constexpr bool is_text = std::is_same_v<Value, std::string> || std::is_same_v<Value, std::string_view> ||
                                std::is_convertible_v<Value, const char*>;
}  // namespace kind

Object text_to_python(std::string_view text);
std::string text_from_python(PyObject* object);
std::int64_t integer_from_python(PyObject* object, std::int64_t least, std::int64_t most);
std::uint64_t natural_from_python(PyObject* object, std::uint64_t most);
double number_from_python(PyObject* object);
bool truth_from_python(PyObject* object);
// The members of a sequence; with `count` that many, or it is refused.
std::vector<Object> members_of(PyObject* sequence, std::optional<std::size_t> count);

template <typename Result, typename... Arguments>
std::function<Result(Arguments...)> function_from_python(PyObject* object,
                                                         std::function<Result(Arguments...)>* /*type*/) {
  if (PyCallable_Check(object) == 0) {
    fail_to_convert("function", object);
  }
  const std::shared_ptr<PyObject> held{(Py_INCREF(object), object), [](PyObject* dropped) {
                                         const WithGil gil;
                                         Py_DECREF(dropped);
                                       }};
  return [held](Arguments... arguments) {
    const WithGil gil;
    return Object::borrowed(held.get())(arguments...).template as<Result>();
  };
}

template <typename Value>
Value from_python(PyObject* object) {
  if constexpr (std::is_void_v<Value>) {
    (void)object;
  } else if constexpr (std::is_same_v<Value, Object>) {
    return Object::borrowed(object);
  } else if constexpr (std::is_same_v<Value, bool>) {
    return truth_from_python(object);
  } else if constexpr (std::is_integral_v<Value> && std::is_signed_v<Value>) {
    return static_cast<Value>(
        integer_from_python(object, std::numeric_limits<Value>::min(), std::numeric_limits<Value>::max()));
  } else if constexpr (std::is_integral_v<Value>) {
    return static_cast<Value>(natural_from_python(object, std::numeric_limits<Value>::max()));
  } else if constexpr (std::is_floating_point_v<Value>) {
    return number_from_python(object);
  } else if constexpr (std::is_same_v<Value, std::string>) {
    return text_from_python(object);
  } else if constexpr (kind::is<Value, std::optional>) {
    return object == Py_None ? Value{} : Value{from_python<typename Value::value_type>(object)};
  } else if constexpr (kind::is<Value, std::vector>) {
    Value values;
    for (const Object& member : members_of(object, std::nullopt)) {
      values.push_back(from_python<typename Value::value_type>(member.get()));
    }
    return values;
  } else if constexpr (kind::is<Value, std::pair> || kind::is<Value, std::tuple>) {
    constexpr std::size_t count = std::tuple_size_v<Value>;
    const std::vector<Object> members = members_of(object, count);
    return [&members]<std::size_t... I>(std::index_sequence<I...> /*indices*/) {
      return Value{from_python<std::tuple_element_t<I, Value>>(members[I].get())...};
    }(std::make_index_sequence<count>{});
  } else if constexpr (kind::is<Value, std::map>) {
    if (PyDict_Check(object) == 0) {
      fail_to_convert("dict", object);
    }
    Value values;
    Py_ssize_t place = 0;
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    while (PyDict_Next(object, &place, &key, &value) != 0) {
      values.emplace(from_python<typename Value::key_type>(key), from_python<typename Value::mapped_type>(value));
    }
    return values;
  } else {
    return function_from_python(object, static_cast<Value*>(nullptr));
  }
}

template <typename Value>
Object to_python(const Value& value) {
  if constexpr (std::is_base_of_v<Object, Value>) {
    return value;
  } else if constexpr (std::is_same_v<Value, std::nullopt_t>) {
    return Object::none();
  } else if constexpr (std::is_same_v<Value, bool>) {
    return Object::owned(PyBool_FromLong(value ? 1 : 0));
  } else if constexpr (std::is_integral_v<Value> && std::is_signed_v<Value>) {
    return Object::owned(PyLong_FromLongLong(value));
  } else if constexpr (std::is_integral_v<Value>) {
    return Object::owned(PyLong_FromUnsignedLongLong(value));
  } else if constexpr (std::is_floating_point_v<Value>) {
    return Object::owned(PyFloat_FromDouble(value));
  } else if constexpr (kind::is_text<Value>) {
    return text_to_python(value);
  } else if constexpr (kind::is<Value, std::optional>) {
    return value ? to_python(*value) : Object::none();
  } else if constexpr (kind::is<Value, std::vector>) {
    List list;
    for (const auto& member : value) {
      list.append(member);
    }
    return list;
  } else if constexpr (kind::is<Value, std::pair> || kind::is<Value, std::tuple>) {
    return std::apply([](const auto&... members) { return tuple_of(members...); }, value);
  } else {
    return instance_of(std::make_unique<Value>(value));
  }
}

// What can only be moved: a new object of C++, as its owner made it.
template <typename Shown>
Object to_python(std::unique_ptr<Shown> shown) {
  return instance_of(std::move(shown));
}

template <typename Value>
void List::append(const Value& value) {
  if (PyList_Append(get(), to_python(value).get()) != 0) {
    throw PythonError{};
  }
}

template <typename Key, typename Value>
void Dict::set(const Key& key, const Value& value) {
  if (PyDict_SetItem(get(), to_python(key).get(), to_python(value).get()) != 0) {
    throw PythonError{};
  }
}

template <typename... Values>
Object tuple_of(const Values&... values) {
  const std::array<Object, sizeof...(Values)> members{to_python(values)...};
  Object tuple = Object::owned(PyTuple_New(static_cast<Py_ssize_t>(members.size())));
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (PyTuple_SetItem(tuple.get(), static_cast<Py_ssize_t>(i), Object{members[i]}.release()) != 0) {
      throw PythonError{};
    }
  }
  return tuple;
}

template <typename... Arguments>
Object Object::operator()(const Arguments&... arguments) const {
  const Object all = tuple_of(arguments...);
  return owned(unless_python_has_ended([&] { return PyObject_CallObject(held_, all.get()); }));
}

template <typename Value>
Value Object::as() const {
  return from_python<Value>(held_);
}

// -- Functions of C++ that Python calls: lambdas without captures, or As<&Some::member>.

template <auto Function>
struct As {};

namespace call {

template <typename>
struct Signature;
template <typename Outcome, typename... Parameters>
struct Signature<Outcome (*)(Parameters...)> {
  using Result = Outcome;
  using Arguments = std::tuple<Parameters...>;
};
template <typename Outcome, typename Of, typename... Parameters>
struct Signature<Outcome (Of::*)(Parameters...)> : Signature<Outcome (*)(Of&, Parameters...)> {};
template <typename Outcome, typename Of, typename... Parameters>
struct Signature<Outcome (Of::*)(Parameters...) const> : Signature<Outcome (*)(const Of&, Parameters...)> {};

template <typename Outcome, typename Of, typename... Parameters>
auto without_lambda(Outcome (Of::*)(Parameters...) const) -> Signature<Outcome (*)(Parameters...)>;

template <typename Function>
struct Called {
  using Signature = decltype(without_lambda(&Function::operator()));
  static constexpr Function function{};
};
template <auto Function>
struct Called<As<Function>> {
  using Signature = call::Signature<decltype(Function)>;
  static constexpr auto function = Function;
};

// What a parameter takes: a reference to an object of C++ that Python holds, or a value.
template <typename Parameter>
decltype(auto) argument(PyObject* object) {
  using Value = std::remove_cvref_t<Parameter>;
  constexpr bool is_value = std::is_arithmetic_v<Value> || std::is_base_of_v<Object, Value> || kind::is_text<Value> ||
                            kind::is<Value, std::optional> || kind::is<Value, std::vector> ||
                            kind::is<Value, std::function>;
  if constexpr (is_value) {
    return from_python<Value>(object);
  } else {
    return (shown_of<Value>(object));
  }
}

// The arguments in the order of `names`: those given by their place first, then those given by name.
void sort_arguments(const char* function, const char* const* names, PyObject* arguments, PyObject* keywords,
                    PyObject** sorted, std::size_t count);

template <typename Function, bool IsMethod>
struct Entry {
  using Arguments = typename Called<Function>::Signature::Arguments;
  static constexpr std::size_t leading = IsMethod ? 1 : 0;
  static constexpr std::size_t count = std::tuple_size_v<Arguments> - leading;
  static inline std::array<const char*, count + 1> names{};
  static inline PyMethodDef definition{};
  static inline PyGetSetDef property{};

  template <std::size_t... I>
  static Object invoke(const std::array<PyObject*, count + leading>& given, std::index_sequence<I...> /*indices*/) {
    using Result = typename Called<Function>::Signature::Result;
    if constexpr (std::is_void_v<Result>) {
      std::invoke(Called<Function>::function, argument<std::tuple_element_t<I, Arguments>>(given[I])...);
      return Object::none();
    } else {
      return to_python(
          std::invoke(Called<Function>::function, argument<std::tuple_element_t<I, Arguments>>(given[I])...));
    }
  }
  static Object answer(PyObject* self, PyObject* arguments, PyObject* keywords) {
    std::array<PyObject*, count + leading> given{};
    if constexpr (IsMethod) {
      given[0] = self;
    }
    sort_arguments(definition.ml_name, names.data(), arguments, keywords, given.data() + leading, count);
    return invoke(given, std::make_index_sequence<count + leading>{});
  }
  static PyObject* call(PyObject* self, PyObject* arguments, PyObject* keywords) noexcept {
    try {
      return answer(self, arguments, keywords).release();
    } catch (...) {
      set_exception();
      return nullptr;
    }
  }
  static PyObject* get(PyObject* self, void* /*closure*/) noexcept { return call(self, nullptr, nullptr); }

  static PyMethodDef* describe(const char* name, const std::array<const char*, count>& given, const char* doc) {
    std::copy(given.begin(), given.end(), names.begin());
    auto* const function = reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&call));
    definition = {name, function, METH_VARARGS | METH_KEYWORDS, doc};
    return &definition;
  }
};

}  // namespace call

template <typename Function>
using ParametersOf = std::array<const char*, call::Entry<Function, false>::count>;

// `names` are those by which Python may give the arguments.
template <typename Function>
void add_function(const Object& module, const char* name, Function /*function*/,
                  const ParametersOf<Function>& names = {}, const char* doc = nullptr) {
  PyMethodDef* const definition = call::Entry<Function, false>::describe(name, names, doc);
  const Object in = module.attribute("__name__");
  module.set_attribute(name, Object::owned(PyCFunction_NewEx(definition, nullptr, in.get())));
}

// Shows a class of C++ to Python, in `module`; objects of it last as long as their Python objects.
template <typename Shown>
class Class {
 public:
  template <typename Function>
  using Names = std::array<const char*, call::Entry<Function, true>::count>;

  Class(const Object& module, const char* name, const char* doc) {
    static const std::string full = module.attribute("__name__").as<std::string>() + "." + name;
    std::array<PyType_Slot, 4> slots{
        {{Py_tp_doc, const_cast<char*>(doc)},  // NOLINT(cppcoreguidelines-pro-type-const-cast)
         {Py_tp_new, reinterpret_cast<void*>(&create)},
         {Py_tp_dealloc, reinterpret_cast<void*>(&destroy)},
         {0, nullptr}}};
    PyType_Spec spec{full.c_str(), sizeof(Instance<Shown>), 0, Py_TPFLAGS_DEFAULT, slots.data()};
    type_ = Object::owned(PyType_FromSpec(&spec));
    ClassOf<Shown>::type = reinterpret_cast<PyTypeObject*>(Object{type_}.release());
    ClassOf<Shown>::name = full.c_str() + full.rfind('.') + 1;
    module.set_attribute(name, type_);
  }

  // How Python makes one: a function that returns a std::unique_ptr.
  template <typename Function>
  Class& made_by(Function /*function*/, const ParametersOf<Function>& names) {
    using Entry = call::Entry<Function, false>;
    Entry::describe(ClassOf<Shown>::name, names, nullptr);
    ClassOf<Shown>::make = [](PyObject* arguments, PyObject* keywords) {
      return Entry::call(nullptr, arguments, keywords);
    };
    return *this;
  }
  template <typename Function>
  Class& method(const char* name, Function /*function*/, const Names<Function>& names = {}, const char* doc = nullptr) {
    add(name, PyDescr_NewMethod(ClassOf<Shown>::type, call::Entry<Function, true>::describe(name, names, doc)));
    return *this;
  }
  template <typename Function>
  Class& property(const char* name, Function /*function*/) {
    using Entry = call::Entry<Function, true>;
    Entry::describe(name, {}, nullptr);
    Entry::property = {name, &Entry::get, nullptr, nullptr, nullptr};
    add(name, PyDescr_NewGetSet(ClassOf<Shown>::type, &Entry::property));
    return *this;
  }

 private:
  void add(const char* name, PyObject* descriptor) { type_.set_attribute(name, Object::owned(descriptor)); }

  static PyObject* create(PyTypeObject* /*type*/, PyObject* arguments, PyObject* keywords) noexcept {
    if (ClassOf<Shown>::make == nullptr) {
      PyErr_Format(PyExc_TypeError, "a %s is not made by calling its class", ClassOf<Shown>::name);
      return nullptr;
    }
    return ClassOf<Shown>::make(arguments, keywords);
  }
  static void destroy(PyObject* object) noexcept {
    PyTypeObject* const type = Py_TYPE(object);
    Shown* const shown = reinterpret_cast<Instance<Shown>*>(object)->shown;
    if constexpr (waits_to_end<Shown>) {
      without_gil([shown] { delete shown; });  // NOLINT(cppcoreguidelines-owning-memory): the object owns it
    } else {
      delete shown;  // NOLINT(cppcoreguidelines-owning-memory)
    }
    reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
  }

  Object type_;
};

}  // namespace zeus::python
