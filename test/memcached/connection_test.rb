# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../shared/memcached_faults"
require_relative "../shared/memcached_gather_faults"
require_relative "../shared/memcached_styles"
require_relative "../support/fault_proxy"
require_relative "../support/lying_memcached"

# Each style against servers that lie, break off, or are not there. (A crowd needs a server that answers.)
(MemcachedStyles::ALL - [MemcachedStyles::Crowded]).each do |style|
  Object.const_set(:"MemcachedConnection#{style.name[/\w+\z/]}Test", Class.new(PeltonTest) {
    include LyingMemcached
    include style
    include MemcachedFaults
    include MemcachedGatherFaults
  })
end
