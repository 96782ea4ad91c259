# frozen_string_literal: true

require_relative "../../../test/support/databases"

# A PostgreSQL or MariaDB of one test or audit, which it may freeze, kill and start again. Its data stays.
class OwnServer
  include Databases
  include Servers

  # @return [Integer] connections that it lets in
  attr_reader :max_connections

  attr_reader :address

  # @param folder [String] for its data; empty
  def initialize(kind, folder: Databases.folder(OwnServer.user(kind)), max_connections: 50)
    @kind = kind
    @max_connections = max_connections
    @port = free_port
    @address =
      (kind == :postgres) ? "postgres://postgres@127.0.0.1:#{@port}/postgres" : "mysql://root@127.0.0.1:#{@port}/test"
    @folder = folder
    prepare
    start
  end

  # @return [String] whose the folder must be
  def self.user(kind) = (kind == :postgres) ? "postgres" : "mysql"

  def start
    @pid = Process.spawn(*command, %i[out err] => File::NULL, :pgroup => true)
    Guard.kill_at_end(@pid)
    1000.times do
      return self if answers?
      sleep 0.01
    end
    raise "#{@kind} does not start"
  end

  # Starts it if it has ended by itself.
  def revive
    start if @pid.nil? || Process.wait(@pid, Process::WNOHANG)
  end

  # Returns when all its threads stand still: until then, one of them may finish a query.
  def freeze_it
    loop do
      signal("STOP") # again for a process that was forked meanwhile
      break if processes.all? { |pid| still?(pid) }
      sleep 0.001
    end
  end

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

  # @return [PG::Connection, Trilogy] a separate session
  def connect = (@kind == :postgres) ? PG.connect(**postgres_options(@port)) : Trilogy.new(**mariadb_options(@port))

  # Ends all sessions but this one.
  def end_sessions(admin)
    if @kind == :postgres
      return admin.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client " \
        "backend' AND pid <> pg_backend_pid()")
    end
    admin.query("SELECT id FROM information_schema.processlist WHERE user = 'root' AND id <> connection_id()").each { |id,| admin.query("KILL #{id}") rescue nil } # standard:disable Style/RescueModifier
  end

  private

  # The processes of PostgreSQL's sessions are its children, in its process group or in one of their own.
  def processes
    [@pid, *Dir["/proc/[0-9]*/stat"].filter_map { |path| File.read(path)[/\A(\d+) .*\) \S (\d+)/] && ($2.to_i == @pid) && $1.to_i rescue nil }] # standard:disable Style/RescueModifier
  end

  # A process that has ended stays as a zombie, since its parent is stopped.
  def still?(pid)
    Dir["/proc/#{pid}/task/*/stat"].all? { |path| %w[T Z X].include?(File.read(path)[/\) (\w)/, 1]) }
  rescue Errno::ENOENT, Errno::ESRCH
    true # it has ended meanwhile
  end

  def signal(name)
    processes.each do |pid|
      Process.kill(name, pid)
    rescue Errno::ESRCH
      nil # it has just ended
    end
  end

  def answers?
    connect.close
    true
  rescue PG::Error, Trilogy::Error
    false
  end

  def prepare
    (@kind == :postgres) ? Databases.prepare_postgres(@folder) : Databases.prepare_mariadb(@folder)
  end

  def command
    return Databases.mariadb_in(@folder, @port, "--max-connections=#{max_connections}") unless @kind == :postgres
    FileUtils.rm_f("#{@folder}/postmaster.pid")
    Databases.postgres_in(@folder, @port, "max_connections=#{max_connections}")
  end
end
