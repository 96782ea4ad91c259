# frozen_string_literal: true

require "json"
require "socket"
require "tmpdir"
require_relative "certificates"
require_relative "name_server"
require_relative "servers"

# An authority that speaks ACME: Debian's pebble, for which each name leads to 127.0.0.1.
class AcmeAuthority
  def self.installed? = ENV.fetch("PATH").split(":").any? { |folder| File.executable?(File.join(folder, "pebble")) }

  # @return [String] the URL of its directory
  attr_reader :directory

  # @return [String] a file: the authority to trust for the directory itself
  attr_reader :trusted

  # @param names [Array<String>] that lead here
  # @param http_port [Integer] at which it asks by HTTP
  # @param tls_port [Integer] at which it asks by TLS
  def initialize(names, http_port, tls_port)
    @folder = Dir.mktmpdir
    @names = NameServer.new(names.to_h { |name| [name, ["127.0.0.1"]] })
    @trusted = write("authority.pem", Certificates.authority)
    identity = Certificates.server
    port, management = Array.new(2) { Servers.free_port }
    config = {listenAddress: "127.0.0.1:#{port}", managementListenAddress: "127.0.0.1:#{management}",
              httpPort: http_port, tlsPort: tls_port,
              certificate: write("certificate.pem", identity.certificate), privateKey: write("key.pem", identity.key)}
    @directory = "https://127.0.0.1:#{port}/dir"
    @pid = spawn({"PEBBLE_VA_NOSLEEP" => "1", "PEBBLE_WFE_NONCEREJECT" => "20"}, "pebble",
      "-config", write("config.json", JSON.generate(pebble: config)),
      "-dnsserver", "127.0.0.1:#{@names.port}", out: "#{@folder}/log", err: %i[child out])
    wait(port)
  end

  def log = File.read("#{@folder}/log")

  def stop
    Process.kill("KILL", @pid)
    Process.wait(@pid)
    @names.close
    FileUtils.rm_rf(@folder)
  end

  private

  def write(name, text) = File.join(@folder, name).tap { |path| File.write(path, text) }

  def wait(port)
    TCPSocket.new("127.0.0.1", port).close
  rescue Errno::ECONNREFUSED
    raise "pebble has ended: #{log}" if Process.wait(@pid, Process::WNOHANG)
    sleep 0.02
    retry
  end
end
