# frozen_string_literal: true

require "tmpdir"
require_relative "../test_helper"

# Other people's tests, run on Pelton. `bin/setup --downstream` brings them to tmp/downstream.
class DownstreamTest < PeltonTest
  self.deadline = 240

  UNPACKED = File.join(ROOT, "tmp/downstream")

  # A network of its own, where that is allowed: these tests use fixed ports, and nothing shall leave the machine.
  def self.isolation
    @@isolation ||= begin
      alone = ["unshare", "-n", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
      system(*alone, "true", out: File::NULL, err: File::NULL) ? alone : []
    end
  end

  # Whether there is a network to go out to.
  def self.isolated? = !isolation.empty?

  # @return [String] the folder of an unpacked gem
  def unpacked(gem)
    folder = File.join(UNPACKED, gem)
    skip "bin/setup --downstream brings #{gem}" unless File.directory?(folder)
    folder
  end

  # Gems that stand on EventMachine, and Pelton's gem of that name.
  GEMFILE = File.join(ROOT, "gemfiles/downstream.rb")

  def bundled!
    skip "bin/setup --downstream brings these gems" unless File.exist?("#{GEMFILE}.lock")
  end

  def bundle_environment = child_environment.merge("BUNDLE_GEMFILE" => GEMFILE, "BUNDLE_SILENCE_ROOT_WARNING" => "1")

  # Runs Ruby with Pelton in EventMachine's place.
  #
  # @return [String] what it wrote
  def run_on_pelton(*arguments, folder:, limit: 120)
    command = [*self.class.isolation, "timeout", "-k", "5", limit.to_s, RbConfig.ruby, "-W0", "-I#{Children::LIB}", "-rpelton/eventmachine", *arguments]
    IO.popen(child_environment, [*command, chdir: folder, err: [:child, :out], in: File::NULL], &:read).scrub
  end
end
