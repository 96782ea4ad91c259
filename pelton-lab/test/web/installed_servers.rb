# frozen_string_literal: true

require "pelton/lab/contender"

# For tests of servers that may not be installed.
module InstalledServers
  private

  # Skips the test where the gems and programs are missing.
  def needs(**what)
    Pelton::Lab::Contender.new("x", **what).unavailable&.then { |reason| skip reason }
  end
end
