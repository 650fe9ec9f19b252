// The functions of fmt that its headers only declare: its own inlined sources, and their templates for char.
#include <fmt/format-inl.h>

template fmt::detail::thousands_sep_result<char> fmt::detail::thousands_sep_impl<char>(fmt::detail::locale_ref);
template char fmt::detail::decimal_point_impl<char>(fmt::detail::locale_ref);
template fmt::detail::dragonbox::decimal_fp<float> fmt::detail::dragonbox::to_decimal<float>(float) noexcept;
template fmt::detail::dragonbox::decimal_fp<double> fmt::detail::dragonbox::to_decimal<double>(double) noexcept;
template void fmt::detail::vformat_to<char>(fmt::detail::buffer<char>&, fmt::string_view,
                                            fmt::basic_format_args<fmt::format_context>, fmt::detail::locale_ref);
