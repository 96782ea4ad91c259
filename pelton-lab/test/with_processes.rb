# frozen_string_literal: true

require "pelton/lab/processes"

# Processes that end with the test.
module WithProcesses
  def setup
    super
    @processes = Pelton::Lab::Processes.new
  end

  def teardown
    @processes.stop_all
    super
  end
end
