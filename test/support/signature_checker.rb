# frozen_string_literal: true

require "json"
require_relative "signature_checker/declarations"

# Compares each call of a method that sig/ declares with its declaration: arguments, whether there is a block, and what
# is returned. `rake types` runs the unit tests with it, and programs with Rails (signature_checker/programs.rb).
# TYPES_RBS names the folders that `require "rbs"` needs: rbs comes with Ruby, not with the bundle.
#
# A call that raises is not compared: tests pass wrong values to see the error. Nor are calls of blocks, because a block
# in another block's place has another identity and arity.
#
# A wrapped method stands where the method was, so that ancestors and `super` stay as they are. Only a frame comes
# between caller and method. Nothing here leaves a block early, which would take its exception ($!) from C code that
# closes something while one is under way: so no `find`, and no `return` within a block.
class SignatureChecker
  ROOT = File.expand_path("../..", __dir__)
  TESTS = %r{\A#{Regexp.escape(ROOT)}/(?:pelton-\w+/)?test/}
  LIBRARY = File.join(ROOT, "lib/pelton.rb")
  # The declarations of each wrapped method, the closest to a class first.
  WRAPPED = []
  EXCEPTIONS = File.join(ROOT, "test/repository/unchecked_signatures.yml")

  class << self
    attr_reader :current

    # The declaration that is to be compared with a call. Under GC.stress= there is none: it would take minutes.
    def declared(number, receiver)
      return if GC.stress
      index = WRAPPED[number].index { |one| one.for?(receiver) }
      WRAPPED[number][index] if index
    end

    # Does nothing unless `rake types` runs the tests. Once for all forks of a process.
    def start
      return unless ENV["TYPES_RBS"] && !current
      $LOAD_PATH.concat(ENV["TYPES_RBS"].split(File::PATH_SEPARATOR))
      require "rbs"
      checker = @current = new(Declarations.load(ROOT), ENV.fetch("TYPES_FOLDER"))
      # Not for programs that tests start, unless this is their RUBYOPT (children.rb).
      %w[TYPES_RBS TYPES_FOLDER].each { |name| ENV.delete(name) } unless ENV["TYPES_PROGRAMS"]
      at_exit { checker.write }
      # A class of a test may call methods in its body, when the libraries that it needs are loaded.
      TracePoint.new(:class) { |point| checker.update if point.path.match?(TESTS) }.enable
    end
  end

  # @param declarations [Declarations]
  # @param folder [String] where each process writes what it has found
  def initialize(declarations, folder)
    @declarations, @folder = declarations, folder
    @unwrapped = YAML.load_file(EXCEPTIONS)["unwrapped"]
    @wrapped, @compared, @wrong, @loaded = {}, {}, {}, nil
  end

  # Wraps the methods of the classes that are in files which have been loaded since the last time.
  def update
    return if @loaded == $LOADED_FEATURES.size
    install
    @loaded = $LOADED_FEATURES.size
  end

  # Wraps the methods of all classes that are loaded.
  def install
    @declarations.each_loaded do |declared, method|
      wrap(declared, method) unless @wrapped.key?(declared.name) || @unwrapped.key?(declared.name)
    end
  end

  # Writes which methods were wrapped and compared in this process, and which calls were wrong. Forks do this as well.
  def write
    found = {
      "declared" => @declarations.names, "wrapped" => @wrapped.keys, "compared" => @compared.keys, "wrong" => @wrong
    }
    File.write(File.join(@folder, "#{Process.pid}-#{rand(1 << 32)}.json"), JSON.generate(found))
  end

  # What is wrong with a call's arguments, by form of the declaration.
  # @return [Array<(Form, String or nil)>]
  def before(declared, receiver, arguments, keywords, block)
    declared.forms.map { |form| [form, form.refuse(receiver, arguments, keywords, block)] }
  end

  # Notes what is wrong with a call that has returned. Returns the same.
  def after(declared, forms, result, receiver)
    @compared[declared.name] = true
    wrong = forms.map { |form, refused| refused || form.refuse_result(receiver, result) }
    return result unless wrong.all?

    # With overloads: what the form says that takes the arguments, or at least the block.
    closest = wrong[forms.index { |_, refused| !refused } || wrong.index { |one| !one.end_with?("block") } || 0]
    message = "#{declared.name}: #{closest}, but declared is #{declared.text}"
    @wrong[message] ||= caller_locations(2, 2).map do |line|
      "#{line.path.delete_prefix("#{ROOT}/")}:#{line.lineno}"
    end.join(" < ")
    result
  end

  private

  def wrap(declared, method)
    @wrapped[declared.name] = true
    owner = method.owner
    others = (@owners ||= {})[[owner, method.name]]
    return others.push(declared).sort_by! { |one| -one.depth } if others
    declarations = @owners[[owner, method.name]] = [declared]
    replace(owner, method, declarations)
  rescue FrozenError
    @wrapped.delete(declared.name)
  end

  # Puts a method in the place of another, with its visibility and, for backtraces, its line. Not by define_method with
  # a block: when a thread is killed in such a method, Ruby 3.1 crashes. The other one is no alias, which a prepended
  # module's method would become.
  def replace(owner, method, declarations)
    name, number, verbose = method.name, WRAPPED.push(declarations).size - 1, $VERBOSE
    $VERBOSE = nil
    place = method.source_location || [LIBRARY, 1]
    visibility = %i[private protected].find { |one| owner.send(:"#{one}_method_defined?", name) } || :public
    owner.send(:define_method, :"__unchecked__#{number}", method)
    owner.class_eval(<<~RUBY, *place) # standard:disable Style/EvalWithLocation
      def #{name}(*arguments, **keywords, &block); declared = ::SignatureChecker.declared(#{number}, self)
        return __unchecked__#{number}(*arguments, **keywords, &block) unless declared
        forms = ::SignatureChecker.current.before(declared, self, arguments, keywords, block)
        result = __unchecked__#{number}(*arguments, **keywords, &block)
        ::SignatureChecker.current.after(declared, forms, result, self)
      end
    RUBY
    owner.send(:private, :"__unchecked__#{number}")
    owner.send(visibility, name)
  ensure
    $VERBOSE = verbose
  end
end
