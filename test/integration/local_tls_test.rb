# frozen_string_literal: true

require "open3"
require "tmpdir"
require_relative "../test_helper"
require_relative "../support/running_program"

# `pelton serve --tls`, and curl that trusts the authority of this machine.
class LocalTLSTest < PeltonTest
  include RunningPrograms

  self.deadline = 60

  def setup
    @folder = Dir.mktmpdir
    @environment = {"XDG_DATA_HOME" => @folder, "RACK_ENV" => "development"}
    File.write("#{@folder}/config.ru",
      'run ->(env) { [200, {"content-type" => "text/plain"}, [env["rack.url_scheme"]]] }')
  end

  def teardown = FileUtils.rm_rf(@folder)

  def test_curl_trusts_it
    server = start_program(*PELTON, "serve", "--tls", "-b", "ssl://127.0.0.1:0", folder: @folder, env: @environment)
    port = await_program(server) { server.port }
    read, status =
      Open3.capture2("curl", "-s", "--cacert", "#{@folder}/pelton/authority.pem", "https://localhost:#{port}/")

    assert_predicate status, :success?
    assert_equal "https", read
  ensure
    server&.stop
  end

  def test_in_production_it_is_refused
    output, status = Open3.capture2e(@environment.merge("RACK_ENV" => "production"), *PELTON, "serve", "--tls",
      "config.ru", chdir: @folder)

    assert_equal 2, status.exitstatus
    assert_match(/tls: it is for development: give ssl:\/\/ a certificate, or name the host by acme/, output)
    assert_empty Dir.children(@folder) - ["config.ru"]
  end
end
