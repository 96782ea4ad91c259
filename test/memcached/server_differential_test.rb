# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../shared/server_differential"

class ServerDifferentialTest < PeltonTest
  include ServerDifferential

  def streams = 15 # test/integration has more
end
