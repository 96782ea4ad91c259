# frozen_string_literal: true

module EventMachine
  class << self
    # Makes a process, in EventMachine's sense: an object whose block is called in the loop each time that it is
    # notified.
    #
    # @return [SpawnedProcess]
    def spawn(&block) = SpawnedProcess.new.tap { |process| process.set_receiver(block) }

    # The last expression of a process's block: the next notification calls this block instead.
    def yield(&block) = YieldBlockFromSpawnedProcess.new(block, false)

    # Does the same as {yield}, and notifies the process at once.
    def yield_and_notify(&block) = YieldBlockFromSpawnedProcess.new(block, true)
  end

  # The result of {EventMachine.spawn}.
  class SpawnedProcess
    # Calls the block with the arguments in the next loop iteration. The process is self.
    def notify(*arguments)
      EventMachine.next_tick do
        result = instance_exec(*arguments, &@receiver)
        if result.is_a?(YieldBlockFromSpawnedProcess)
          set_receiver(result.pull_out_yield_block)
          notify if result.notify?
        end
      end
      nil
    end
    alias_method :resume, :notify
    alias_method :run, :notify

    # @private
    def set_receiver(block)
      @receiver = block
    end
  end

  # The result of {EventMachine.yield}.
  class YieldBlockFromSpawnedProcess
    def initialize(block, notify)
      @block = block
      @notify = notify
    end

    # @return [Proc] the block of {EventMachine.yield}
    def pull_out_yield_block = @block

    def notify? = @notify
  end
end
