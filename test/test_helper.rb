# frozen_string_literal: true

require_relative "support/weak_maps" # before any library makes one
require_relative "support/children"
$LOAD_PATH.unshift(*Children::LIBRARIES.split(File::PATH_SEPARATOR))

require_relative "support/guard"
Guard.start # before Minitest's at_exit: so it ends after the tests

require_relative "support/signature_checker"
SignatureChecker.start # likewise: so it writes after them

require "minitest/autorun"
require "tempfile"
require_relative "support/servers"
Children.unbundle

# The base of all tests.
#
# A test may take `deadline` seconds (30; `self.deadline = 60` in a class sets another) times PATIENCE. Then the
# backtraces of all threads are printed and the test fails by Guard::Hung; if it does not end within 10 seconds even so,
# the process dies with Ruby's report of where it was.
#
# PELTON_GC_STRESS=1 runs each test with a minor collection at every allocation, and moves all objects now and then;
# PELTON_GC_STRESS=full collects and moves all at every allocation, which takes a hundred times as long (rake stress).
# PELTON_VALGRIND=1 says that valgrind runs the tests (rake memcheck). The deadlines are ten times as long then.
class PeltonTest < Minitest::Test
  include Children
  include Servers

  ROOT = File.expand_path("..", __dir__)
  STRESS = {"1" => 1, "full" => true}[ENV["PELTON_GC_STRESS"]] # as GC.stress= takes it: 1, no major collections
  COMPACTING = 997 # calls of methods in C from one compaction to the next
  POSIX = ENV["PELTON_POSIX"] == "1" # the extension was built without what Linux alone has (rake portability:extension)
  VALGRIND = ENV["PELTON_VALGRIND"] == "1"
  SLOW = (STRESS || VALGRIND) ? 10 : 1
  PATIENCE = 4 * SLOW # a deadline finds what hangs: a busy machine must not reach it

  class << self
    attr_writer :deadline

    def deadline = @deadline || ((self == PeltonTest) ? 30 : superclass.deadline)

    # Defines a class of these suites' tests for each style, a module that says how they call what they test.
    def in_styles(name, styles, *suites)
      styles.each do |style|
        tests = Class.new(self) { [style, *suites].each { |part| include part } }
        Object.const_set(:"#{name}#{style.name[/\w+\z/]}Test", tests)
      end
    end
  end

  def run(...) = Guard.watch("#{self.class}##{name}", self.class.deadline * PATIENCE) { super }

  def before_setup
    super
    SignatureChecker.current&.update
    return unless STRESS
    auto_compact(true) if STRESS == true
    calls = 0
    # Not before a call: in Ruby 3.1 a thread that ends right before the hook `block` wakes nobody.
    @compaction = TracePoint.new(:c_return) { GC.compact if (calls += 1) % COMPACTING == 0 }
    @compaction.enable
    GC.stress = STRESS
  end

  def after_teardown
    return super unless STRESS
    GC.stress = false
    auto_compact(false)
    @compaction.disable
    super
  end

  # Whether the GC moves objects. A collection that is under way ends first: the sweep of Ruby 3.1 asks for this setting
  # anew, and would move objects that the marking has not pinned, such as trap handlers.
  def auto_compact(on)
    return unless GC.respond_to?(:auto_compact=)
    GC.start
    GC.auto_compact = on
  end

  # Waits until the block is true; fails when it still is not after `timeout` seconds times PATIENCE. For the effects of
  # other threads and processes, which have no other sign.
  def eventually(what = "the condition", timeout: 10)
    limit = now + timeout * PATIENCE
    until (result = yield)
      flunk "#{what} did not come true within #{timeout * PATIENCE} s" if now > limit
      sleep 0.002
    end
    result
  end

  # Yields the path of a file with this content, which is gone afterwards.
  def with_file(content)
    Tempfile.create("pelton-test") do |file|
      file.binmode.write(content)
      file.close
      yield file.path
    end
  end

  # Runs the block without a log.
  def silently
    logger, Pelton.logger = Pelton.logger, nil
    yield
  ensure
    Pelton.logger = logger
  end

  # Runs the block, and returns the messages of the errors that went to Pelton.on_error; the block gets them as they
  # come.
  def errors_reported
    messages = []
    before = Pelton.on_error { |error| messages << error.message }
    yield messages
    messages
  ensure
    Pelton.on_error(&before)
  end

  # Runs the block on a blocking fiber, which calls no hooks: a wait there blocks the thread on every version of Ruby.
  def blocking(&block) = Fiber.new(blocking: true, &block).resume

  private

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

# Objects are moved about once, with everything loaded: a C class that keeps a stale reference crashes here. (To
# valgrind the places that they left are gone, and Ruby's look at them an error.)
Minitest.after_run do
  next if PeltonTest::VALGRIND || !GC.respond_to?(:verify_compaction_references)
  names = GC.method(:verify_compaction_references).parameters.map(&:last)
  GC.verify_compaction_references((names.include?(:expand_heap) ? :expand_heap : :double_heap) => true,
    :toward => :empty)
end
