# Debian packages, which CPack makes from the install rules: `make packages`. A package is a component of those rules.
#
#   zeus_package(libzeus0 COMPONENT library SECTION libs SUMMARY "..." DESCRIPTION "..."
#     [NEEDS guardian ...]      components whose packages it needs, in the same version
#     [DEPENDS text] [RECOMMENDS text] [SUGGESTS text]
#                               as in a control file; dpkg-shlibdeps adds the libraries that it links
#     [LIBRARY libzeus]         a library that others link: tells dpkg-shlibdeps and ldconfig
#     [CONTROL file ...])       maintainer scripts
#   zeus_write_packages()       call it last: writes what `cpack` reads
#
# Each package has the licence and the changelog in share/doc; they are installed with its component alone.

function(zeus_package name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "COMPONENT;SECTION;LIBRARY;SUMMARY;DESCRIPTION;DEPENDS;RECOMMENDS;SUGGESTS" "NEEDS;CONTROL")
  set(documents ${CMAKE_INSTALL_DATADIR}/doc/${name})
  install(FILES ${PROJECT_SOURCE_DIR}/packaging/debian/copyright ${PROJECT_BINARY_DIR}/packaging/changelog.gz
    DESTINATION ${documents} COMPONENT ${arg_COMPONENT} EXCLUDE_FROM_ALL)
  if(arg_LIBRARY)
    set(control ${PROJECT_BINARY_DIR}/packaging/${name})
    file(WRITE ${control}/shlibs "${arg_LIBRARY} ${ZEUS_SOVERSION} ${name} (>= ${PROJECT_VERSION})\n")
    file(WRITE ${control}/triggers "activate-noawait ldconfig\n")
    list(APPEND arg_CONTROL ${control}/shlibs ${control}/triggers)
  endif()
  string(TOUPPER ${arg_COMPONENT} component)
  set(settings "set(CPACK_DEBIAN_${component}_PACKAGE_NAME [[${name}]])\n")
  string(APPEND settings "set(CPACK_DEBIAN_${component}_DESCRIPTION [[${arg_SUMMARY}\n${arg_DESCRIPTION}]])\n")
  string(APPEND settings "set(CPACK_DEBIAN_${component}_PACKAGE_SECTION [[${arg_SECTION}]])\n")
  string(APPEND settings "set(CPACK_DEBIAN_${component}_PACKAGE_CONTROL_EXTRA [[${arg_CONTROL}]])\n")
  string(APPEND settings "set(CPACK_COMPONENT_${component}_DEPENDS [[${arg_NEEDS}]])\n")
  foreach(relation DEPENDS RECOMMENDS SUGGESTS)
    string(APPEND settings "set(CPACK_DEBIAN_${component}_PACKAGE_${relation} [[${arg_${relation}}]])\n")
  endforeach()
  set_property(GLOBAL APPEND PROPERTY ZEUS_PACKAGED_COMPONENTS ${arg_COMPONENT})
  set_property(GLOBAL APPEND_STRING PROPERTY ZEUS_PACKAGE_SETTINGS "${settings}")
endfunction()

function(zeus_write_packages)
  get_property(CPACK_COMPONENTS_ALL GLOBAL PROPERTY ZEUS_PACKAGED_COMPONENTS)
  get_property(settings GLOBAL PROPERTY ZEUS_PACKAGE_SETTINGS)
  file(WRITE ${PROJECT_BINARY_DIR}/packaging/packages.cmake "${settings}")
  set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_BINARY_DIR}/packaging/packages.cmake)
  set(CPACK_GENERATOR DEB)
  set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each has its own
  set(CPACK_PACKAGE_VENDOR Zeus)
  set(CPACK_STRIP_FILES ON)
  set(CPACK_DEB_COMPONENT_INSTALL ON)
  set(CPACK_COMPONENTS_GROUPING IGNORE)
  set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_MAINTAINER ${ZEUS_PACKAGE_MAINTAINER})
  set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  # dpkg-shlibdeps finds our own libraries there. Dependencies between our packages come from NEEDS.
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)
  include(CPack)
endfunction()
