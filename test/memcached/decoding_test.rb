# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../shared/memcached_coding"
require_relative "../shared/memcached_styles"

# Each style with values that are not plain Strings.
MemcachedStyles::ALL.each do |style|
  Object.const_set(:"MemcachedDecoding#{style.name[/\w+\z/]}Test", Class.new(PeltonTest) {
    include style
    include MemcachedCoding
  })
end
