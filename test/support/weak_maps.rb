# frozen_string_literal: true

# Before 3.3, Ruby leaves stale references in weak maps when it compacts, and crashes when it frees them
# (https://bugs.ruby-lang.org/issues/19529). The tests compact, and mustermann and connection_pool have weak maps: there
# they keep their keys.
if RUBY_VERSION < "3.3"
  ObjectSpace.send(:remove_const, :WeakMap)
  ObjectSpace::WeakMap = Class.new(Hash) { def initialize = compare_by_identity }
end
