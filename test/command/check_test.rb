# frozen_string_literal: true

require "stringio"
require_relative "../test_helper"
require_relative "../support/certificates"
require "pelton/command"
require "pelton/command/check"
require "pelton/http/command"

class CommandCheckTest < PeltonTest
  APP = "run ->(env) { [200, {}, []] }"

  def teardown
    ENV["RACK_ENV"] = @environment
    super
  end

  def setup
    super
    @environment = ENV["RACK_ENV"]
  end

  # The exit status, and what is said.
  def check(*arguments, app: APP, files: {}, variables: {})
    Dir.mktmpdir do |dir|
      Dir.chdir(dir) do
        {"config.ru" => app, **files}.compact.each { |name, text| File.write(name, text) }
        yield dir if block_given?
        before = Dir.children(".").sort
        out, error = StringIO.new, StringIO.new
        command = Pelton::HTTP::Command.new(["--check", "-b", "tcp://127.0.0.1:#{free_port}", *arguments],
          environment: variables)
        status = Pelton::Command::Check.new(command, out: out, error: error).run

        assert_equal before, Dir.children(".").sort, "it leaves files alone"
        return [status, error.string.gsub(dir, "DIR"), out.string.gsub(dir, "DIR")]
      end
    end
  end

  def assert_problem(pattern, *arguments, **options, &block)
    status, error, out = check(*arguments, **options, &block)

    assert_equal 1, status
    assert_equal "", out
    assert_match(/\Apelton serve: .*#{pattern}.*\npelton serve: 1 problem\n\z/, error)
  end

  def test_all_is_well
    assert_equal [0, "", "pelton serve: the configuration is good\n"], check("-l", "log", "--control", "control")
  end

  def test_variables_that_are_not_known
    assert_problem(/PELTON_WORKER is none of Pelton's; did you mean PELTON_WORKERS/,
      variables: {"PELTON_WORKER" => "2"})
    assert_equal [0, "", "pelton serve: the environment variable PELTON_XYZZY is none of Pelton's, and has no " \
      "effect\npelton serve: the configuration is good\n"],
      check(variables: {"PELTON_XYZZY" => "2"})
  end

  def test_settings
    assert_problem(/pelton.rb:1: there is no setting threads/, files: {"pelton.rb" => "threads 5"})
    assert_problem(/the environment variable PELTON_WORKERS: .*not "x"/, variables: {"PELTON_WORKERS" => "x"})
    assert_problem(/a port is 0 to 65535/, "-p", "70000")
  end

  def test_all_problems_are_named_at_once
    status, error, = check("-l", "no/log", app: "raise 'cannot'", files: {"pelton.rb" => "pidfile 'none/pid'"})

    assert_equal 1, status
    assert_equal 4, error.lines.size
    assert_equal "pelton serve: 3 problems\n", error.lines.last
  end

  def test_the_application
    assert_problem(/there is no config.ru: name the rackup file, or write one/, app: nil)
    assert_problem(/config.ru: no database \(RuntimeError\) at .*config.ru:2/, app: "\nraise 'no database'")
    assert_problem(/config.ru: .*cannot load such file -- nowhere.* \(LoadError\)/, app: "require 'nowhere'")
    assert_problem(/config.ru: .* \(SyntaxError\)/, app: "(")
    assert_problem(/ends the process with status 3/, app: "exit 3")
    assert_problem(/must respond to call, which Integer does not/, app: "run 1")
  end

  def test_files
    assert_problem(%r{log: no/log: there is no folder no: make it}, "-l", "no/log")
    assert_problem(/log: \. is a folder/, "-l", ".")
    assert_problem(%r{control: .*unix://no/socket: there is no folder no}, "--control", "no/socket")
    assert_problem(/control: .*there is a file that is not a socket/, "--control", "config.ru")
    assert_problem(/control: .*does not speak TLS/, "--control", "ssl://127.0.0.1:1")
  end

  def test_files_of_others
    skip "root may write everything" if Process.uid.zero?
    assert_problem(/cannot be written/, "-l", "log", files: {"log" => ""}) { File.chmod(0o400, "log") }
  end

  def test_certificates
    good, bad = Certificates.server, Certificates.for("localhost", valid: -7200..-3600)
    pem = ->(one) { one.certificate + one.key }
    bind = "ssl://127.0.0.1:#{free_port}?cert=pem"

    assert_problem(/pem: No such file/, "-b", bind)
    assert_problem(/ssl:.*: the certificate has expired \(.* UTC\): renew it/, "-b", bind, files: {"pem" => pem[bad]})
    assert_match(/expires soon/, check("-b", bind, files: {"pem" => pem[good]})[2])
    assert_match(/ssl/, check("-b", bind, files: {"pem" => "nonsense"})[1])
  end

  # As `nginx -t`: what runs there now may be this server.
  def test_an_address_in_use_is_no_problem_and_nobody_is_disturbed
    Dir.mktmpdir do |dir|
      servers = [TCPServer.new("127.0.0.1", 0), UNIXServer.new("#{dir}/s")]
      address = "tcp://127.0.0.1:#{servers.first.local_address.ip_port}"
      status, error, out = check("-b", address, "-b", "unix://#{dir}/s")

      assert_equal 0, status
      assert_equal "", error
      assert_match(/#{address} is in use by process #{Process.pid} .*\n.*s is in use by/, out)
      assert_path_exists "#{dir}/s"
      assert_equal :wait_readable, servers.first.accept_nonblock(exception: false)
    ensure
      servers&.each(&:close)
    end
  end

  def test_addresses
    assert_problem(/this machine has no such address/, "-b", "tcp://192.0.2.1:1")
    assert_problem(/no\.such\.host\.invalid/, "-b", "tcp://no.such.host.invalid:1")
    assert_problem(/there is no folder no/, "-b", "unix://no/socket")
    assert_problem(/too long/, "-b", "unix://#{"x" * 200}")
  end

  def test_a_setting_without_effect
    assert_match(/worker_memory has no effect without workers/, check("--worker-memory", "1G")[2])
  end

  def test_hooks_are_not_called
    assert_equal 0, check(files: {"pelton.rb" => "on_boot { raise 'booted' }; before_fork { raise 'forked' }"}).first
  end
end
