# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../shared/memcached_coding"
require_relative "../shared/memcached_styles"

# Each style with values that are not plain Strings.
PeltonTest.in_styles("MemcachedDecoding", MemcachedStyles::ALL, MemcachedCoding)
