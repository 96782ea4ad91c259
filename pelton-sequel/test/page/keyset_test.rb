# frozen_string_literal: true

require "test_helper"
require_relative "../support/keyset_behaviours"

# On SQLite; on the servers in integration/page/keyset_test.rb.
class SequelKeysetTest < PeltonTest
  include KeysetBehaviours

  def address = sqlite_file
end
