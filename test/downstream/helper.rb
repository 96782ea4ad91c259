# frozen_string_literal: true

require "tmpdir"
require_relative "../test_helper"

# Runs the tests of other projects on Pelton. `bin/setup downstream` unpacks these projects into tmp/downstream.
class DownstreamTest < PeltonTest
  self.deadline = 240

  UNPACKED = File.join(ROOT, "tmp/downstream")

  # Runs in a network namespace of its own, where that is allowed: these tests use fixed ports, and no packet may leave
  # the machine.
  def self.isolation
    @@isolation ||= begin
      alone = ["unshare", "-n", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
      system(*alone, "true", out: File::NULL, err: File::NULL) ? alone : []
    end
  end

  # Whether the machine has a network.
  def self.isolated? = !isolation.empty?

  # @return [String] the folder of an unpacked gem
  def unpacked(gem)
    folder = File.join(UNPACKED, gem)
    skip "bin/setup downstream brings #{gem}" unless File.directory?(folder)
    folder
  end

  # Gems that depend on EventMachine, and Pelton's gem of that name.
  GEMFILE = File.join(ROOT, "gemfiles/downstream.rb")

  def bundled!
    skip "bin/setup downstream brings these gems" unless File.exist?("#{GEMFILE}.lock")
  end

  def bundle_environment = child_environment.merge("BUNDLE_GEMFILE" => GEMFILE, "BUNDLE_SILENCE_ROOT_WARNING" => "1")

  # Runs Ruby with Pelton instead of EventMachine.
  #
  # @return [String] its output
  def run_on_pelton(*arguments, folder:, limit: 120)
    command = [*self.class.isolation, "timeout", "-k", "5", limit.to_s, RbConfig.ruby, "-W0",
      "-I#{Children::LIBRARIES}", "-rpelton/eventmachine", *arguments]
    IO.popen(child_environment, [*command, chdir: folder, err: [:child, :out], in: File::NULL], &:read).scrub
  end
end
