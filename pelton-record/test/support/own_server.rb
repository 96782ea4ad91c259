# frozen_string_literal: true

require_relative "record_databases"

# A PostgreSQL or MariaDB of one test, which it may freeze, kill and start again. Its data stays.
class OwnServer
  include Databases
  include Servers

  attr_reader :address

  def initialize(kind)
    @kind = kind
    @port = free_port
    @address = (kind == :postgres) ? "postgres://postgres@127.0.0.1:#{@port}/postgres" : "mysql://root@127.0.0.1:#{@port}/test"
    @folder = Databases.folder((kind == :postgres) ? "postgres" : "mysql")
    prepare
    start
  end

  def start
    @pid = Process.spawn(*command, %i[out err] => File::NULL, :pgroup => true)
    Guard.kill_at_end(@pid)
    1000.times do
      return self if answers?
      sleep 0.01
    end
    raise "#{@kind} does not start"
  end

  def freeze_it = signal("STOP")

  def thaw = @pid && signal("CONT")

  def kill
    signal("KILL")
    Process.wait(@pid)
    @pid = nil
  end

  def stop
    return unless @pid
    thaw
    kill
  end

  private

  # The processes of PostgreSQL's sessions are its children, in its process group or in one of their own.
  def signal(name)
    pids = [@pid, *Dir["/proc/[0-9]*/stat"].filter_map { |path| File.read(path)[/\A(\d+) .*\) \S (\d+)/] && ($2.to_i == @pid) && $1.to_i rescue nil }] # standard:disable Style/RescueModifier
    pids.each do |pid|
      Process.kill(name, pid)
    rescue Errno::ESRCH
      nil # it has just ended
    end
  end

  def answers?
    (@kind == :postgres) ? PG.connect(**postgres_options(@port)).close : Trilogy.new(**mariadb_options(@port)).close
    true
  rescue PG::Error, Trilogy::Error
    false
  end

  def prepare
    return Databases.prepare(*Databases.as("postgres", "#{programs}/initdb", "-D", @folder, "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C")) if @kind == :postgres
    Databases.prepare("mariadb-install-db", *common, "--auth-root-authentication-method=normal", "--skip-name-resolve")
  end

  def command
    return ["mariadbd", *common, "--port=#{@port}", "--socket=#{@folder}/socket", "--bind-address=127.0.0.1", "--pid-file=#{@folder}/pid", "--skip-name-resolve"] unless @kind == :postgres
    FileUtils.rm_f("#{@folder}/postmaster.pid")
    Databases.as("postgres", "#{programs}/postgres", "-D", @folder, "-p", @port.to_s, "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "max_connections=50")
  end

  def programs = Dir["/usr/lib/postgresql/*/bin"].max

  def common = ["--no-defaults", "--datadir=#{@folder}", *("--user=mysql" if Process.uid.zero?)]
end
