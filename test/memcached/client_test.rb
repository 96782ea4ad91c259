# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../shared/memcached_behaviours"
require_relative "../shared/memcached_commands"
require_relative "../shared/memcached_styles"

# Each style against a real memcached.
MemcachedStyles::ALL.each do |style|
  Object.const_set(:"MemcachedClient#{style.name[/\w+\z/]}Test", Class.new(PeltonTest) {
    include style
    include MemcachedBehaviours
    include MemcachedCommands
  })
end

# Some of them in classic text.
[MemcachedStyles::Direct, MemcachedStyles::Blocking, MemcachedStyles::Callback, MemcachedStyles::Crowded].each do |style|
  Object.const_set(:"MemcachedClassic#{style.name[/\w+\z/]}Test", Class.new(PeltonTest) {
    include style
    include MemcachedStyles::Classic
    include MemcachedBehaviours
    include MemcachedCommands
  })
end
