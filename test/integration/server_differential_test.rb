# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../shared/server_differential"

# STREAMS=1000 sets the number of streams.
class ServerDifferentialStreamsTest < PeltonTest
  include ServerDifferential

  self.deadline = 300

  def streams = Integer(ENV.fetch("STREAMS", "120"))
end
