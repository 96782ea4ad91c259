# frozen_string_literal: true

module Pelton
  module Cluster
    # The process that opens the sockets: it has a {Supervisor} keep the wanted number of workers running, and handles
    # signals:
    #
    # | signal | effect |
    # |---|---|
    # | INT, TERM | the workers finish their requests, and all end; the second signal ends all at once |
    # | USR1 | the workers are replaced one after the other; each old one stops when the new one serves |
    # | USR2 | the master starts itself again with the same sockets; connections wait meanwhile |
    # | TTIN, TTOU | one worker more, one less. A worker that gets TTIN itself writes its tasks to Pelton.logger |
    # | HUP | the blocks of {#on_hangup} and {Child#on_hangup} are called, to open logs again; without a block as INT |
    class Master
      SIGNALS = %w[INT TERM USR1 USR2 TTIN TTOU HUP].freeze

      # @param listening [Sockets] closed when the master stops
      # @param preload [Proc, nil] called once before the first worker is forked: all workers share the memory of what
      #   it loads
      # @param command [Array<String>] the command line to start this program again (USR2)
      # @param control [String, nil] the address of a {Control} socket
      # @param families [Hash{String => Metrics::Family}] the workers' stats as metric families for Prometheus, which
      #   does not get other stats
      # @param options [Hash] see {Supervisor#initialize}; `workers:` is required
      # @yieldparam worker [Child] in the worker's process, inside {Pelton.run}
      # @raise [ArgumentError] the number of workers is not positive
      def initialize(listening, preload: nil, command: Sockets::PROGRAM, control: nil, families: {}, **options, &serve)
        @listening = listening
        @preload = preload
        @command = command
        @address = control
        @supervisor = Supervisor.new(listening, families: families, forked: method(:leave), **options, &serve)
        @overview = Overview.new(@supervisor, families)
        @signals = Thread::Queue.new
      end

      # Calls the block in the master when HUP comes. The workers have {Child#on_hangup}.
      def on_hangup(&block) = @on_hangup = block

      # Calls the block in the master when it begins to stop, also to start again.
      def on_stop(&block) = @on_stop = block

      # Calls the block in the master when all workers have ended and it is about to start again (USR2).
      def on_restart(&block) = @on_restart = block

      # @return [Integer] the exit status: 0, or 1 when no worker ever came up
      def run
        SharedCounters.default # the workers inherit it
        @preload&.call
        trap_signals
        @control = Control.new(@address, **@overview.answers) if @address
        until @supervisor.over?
          handle_signals
          @supervisor.turn
          @supervisor.wait(@wake_reader)
          @wake_reader.read_nonblock(4096, exception: false)
        end
        restart if @supervisor.state == :restarting
        (@supervisor.state == :failed) ? 1 : 0
      ensure
        @control&.close
        restore_signals
        @supervisor.kill
      end

      private

      def trap_signals
        @wake_reader, @wake_writer = IO.pipe
        @before = SIGNALS.to_h do |name|
          [name, Signal.trap(name) do
            @signals << name
            @wake_writer.write_nonblock(".", exception: false)
          end]
        end
      end

      def restore_signals
        @before&.each { |name, handler| Signal.trap(name, handler || "DEFAULT") }
        [@wake_reader, @wake_writer].each { |io| io&.close }
        @before = @wake_reader = @wake_writer = nil
      end

      def handle_signals
        until @signals.empty?
          case (name = @signals.pop)
          when "INT", "TERM" then @supervisor.running? ? stop(:stopped) : @supervisor.kill
          when "USR1" then @preload ? stop(:restarting) : @supervisor.replace_all
          when "USR2" then stop(:restarting)
          when "TTIN", "TTOU" then @supervisor.wanted += (name == "TTIN") ? 1 : -1
          when "HUP" then @on_hangup ? hang_up : stop(:stopped)
          end
          Pelton.logger.info("cluster: #{name}, #{@supervisor.wanted} workers wanted") if name.start_with?("TT")
        end
      end

      def stop(state)
        @on_stop&.call
        @supervisor.stop(state)
      end

      def hang_up
        @on_hangup.call
        @supervisor.hang_up
      end

      # Called in a worker's process.
      def leave
        restore_signals
        @control&.forget
        @control = nil
      end

      def restart
        @control&.close
        @on_restart&.call
        Pelton.logger.info("cluster: starts #{@command.join(" ")}")
        @listening.exec(@command)
      end
    end
  end
end
