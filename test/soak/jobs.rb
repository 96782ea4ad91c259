# frozen_string_literal: true

require "json"
require "pg"
require "rbconfig"
require "socket"
require "tmpdir"
require "pelton/http"
require_relative "../support/guard"
require_relative "../support/servers"
require_relative "jobs_reader"
require_relative "jobs_upstream"

module Soak
  # Jobs of Solid Queue in fibers receive texts of a faulty upstream, and pages follow them, while workers are killed
  # and the database is restarted. No job may be lost, no text may be finished twice, and no page may lack a word.
  class Jobs
    ROOT = File.expand_path("../..", __dir__)
    SCHEMA = <<~RUBY
      require "./application"
      $stdout = File.open(File::NULL, "w")
      load File.join(Gem.loaded_specs["solid_queue"].full_gem_path,
        "lib/generators/solid_queue/install/templates/db/queue_schema.rb")
      ActiveRecord::Base.connection.create_table(:soak_messages) { |table| table.resumable_stream(:content) }
      ActiveRecord::Base.connection.create_table(:soak_ends) { |table| table.integer(:message_id) }
    RUBY
    WORKERS = <<~RUBY
      require "./application"
      SolidQueue::Supervisor.start(workers: [{queues: "*", fibers: 40, polling_interval: 0.1, processes: 2}],
        dispatchers: [{polling_interval: 0.2}], skip_recurring: true)
    RUBY
    # What an operator does with jobs whose worker was killed: Solid Queue records them as failed.
    ENQUEUE = <<~RUBY
      require "./application"
      while (order = $stdin.gets&.chomp)
        begin
          case order
          when "retry" then puts SolidQueue::FailedExecution.all.to_a.each(&:retry).size
          when "new" then puts SoakMessage.create!.tap { |message| SoakJob.perform_later(message) }.id
          end
        rescue ActiveRecord::ActiveRecordError, SolidQueue::Job::EnqueueError
          puts "away"
        end
        $stdout.flush
      end
    RUBY

    # @return [Hash{Symbol => Integer}] what has happened
    attr_reader :tally

    # @return [Array<String>] the first faults
    attr_reader :faults

    # @param url [String] of the PostgreSQL
    # @param seconds [Numeric]
    # @param every [Numeric] seconds between two faults
    # @param restart [#call] restarts the database
    def initialize(url, seconds:, every:, restart:, seed: 1)
      @url, @seconds, @every, @restart = url, seconds, every, restart
      @random = Random.new(seed)
      @upstream = JobsUpstream.new(seed)
      @readers = {} # by message
      @turn = Mutex.new
      @tally = Hash.new(0)
      @faults = []
    end

    # @return [Boolean] whether all is as it should be
    def run
      serving { Pelton.run { work } }
      judge
      @faults << "the processes' log ends with:\n#{@log[-3000..] || @log}" if @faults.any?
      @faults.empty?
    end

    private

    def serving
      Dir.mktmpdir do |folder|
        @folder = folder
        File.write("#{folder}/application.rb", "require #{File.expand_path("jobs_application", __dir__).dump}\n")
        File.write("#{folder}/config.ru", "require './application'\nrun SoakApplication\n")
        File.write("#{folder}/workers.rb", WORKERS)
        File.write("#{folder}/pelton.rb", "companion #{"#{RbConfig.ruby} workers.rb".dump}\n")
        system(environment, RbConfig.ruby, "-e", SCHEMA, chdir: folder) or raise "the schema could not be made"
        @port = Servers.free_port
        @server =
          start(RbConfig.ruby, "#{ROOT}/exe/pelton", "serve", "-C", "pelton.rb", "-w", "2", "-q", "-p", @port.to_s)
        command = [RbConfig.ruby, "-e", ENQUEUE, chdir: folder, err: "#{folder}/orders.log"]
        @orders = IO.popen(environment, command, "r+")
        yield
      ensure
        Process.kill(:TERM, @server) && Process.wait(@server) if @server
        @orders&.close
        @log = File.read("#{folder}/log") if File.exist?("#{folder}/log")
      end
    end

    def environment
      {"DATABASE_URL" => "#{@url}?pool=15", "UPSTREAM" => @upstream.url,
       "RAILS_ENV" => "production", "SECRET_KEY_BASE" => "0" * 64,
       "BUNDLE_GEMFILE" => "#{ROOT}/gemfiles/rails_8_1.rb"}.merge(ENV.slice("BUNDLE_PATH"))
    end

    def start(*command)
      Process.spawn(environment, *command, :chdir => @folder, %i[out err] => ["#{@folder}/log", "a"]).tap do |pid|
        Guard.kill_at_end(pid)
      end
    end

    def order(what)
      answer = @turn.synchronize { @orders.puts(what) || @orders.gets }
      answer&.chomp or raise "the process that enqueues has ended: #{File.read("#{@folder}/orders.log")}"
    end

    def work
      till = Pelton::Clock.now + @seconds
      faults = Pelton.spawn { make_faults }
      while Pelton::Clock.now < till
        enqueue
        sleep 0.1
      end
      faults.cancel
      @upstream.faulty = false
      finish
    ensure
      Pelton.stop
    end

    def enqueue
      number = order("new")
      return @tally[:refused] += 1 if number == "away"
      @readers[Integer(number)] = JobsReader.new("http://127.0.0.1:#{@port}/#{number}", @random)
    end

    def make_faults
      loop do
        sleep @every
        kill_a_worker
        order("retry")
        sleep @every
        Pelton.offload { @restart.call }
        @tally[:restarts] += 1
      end
    end

    # Not a process that the database no longer knows.
    def kill_a_worker
      pid = database do |one|
        one.exec("SELECT pid FROM solid_queue_processes WHERE kind = 'Worker' ORDER BY random() LIMIT 1")
          .values
          .flatten
          .first
      end or
        return
      Process.kill(:KILL, pid.to_i)
      @tally[:killed] += 1
    rescue PG::Error, Errno::ESRCH
      nil
    end

    def database
      connection = PG.connect(@url)
      yield connection
    ensure
      connection&.close
    end

    # Everything comes to its end without faults.
    def finish
      limit = Pelton::Clock.now + 120
      until @readers.each_value.all?(&:ended?) || Pelton::Clock.now > limit
        order("retry")
        sleep 1
      end
      @readers.each_value(&:stop)
    end

    def judge
      states, ends = database do |one|
        [
          one.exec("SELECT id, content_state, content FROM soak_messages").values,
          one.exec("SELECT message_id, count(*) FROM soak_ends GROUP BY 1").values.to_h
        ]
      end
      states = states.to_h { |id, state, text| [Integer(id), [state, text]] }
      @readers.each { |number, reader| judge_one(number, reader, *states.fetch(number, []), ends[number.to_s].to_i) }
      @tally.update(@upstream.tally.transform_keys { |name| :"upstream_#{name}" })
    end

    def judge_one(number, reader, state, text, ends)
      right = JobsUpstream.text(number)
      @tally[:jobs] += 1
      @tally[:returns] += reader.returns
      fault(:lost, "job #{number} is #{state.inspect}") unless state == "finished" && text == right
      fault(:twice, "job #{number} came to its end #{ends} times") if ends > 1
      return if reader.text == right
      fault(:missed, "the page of #{number} shows #{reader.text.inspect}, its last answer was #{reader.last.inspect}")
    end

    def fault(name, what)
      @tally[name] += 1
      @faults << what if @faults.size < 20
    end
  end
end
