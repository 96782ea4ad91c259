# frozen_string_literal: true

require "etc"
require "fileutils"
require "yaml"

# Seeded faults (mutations/faults.yml), each put into a copy of this checkout, whose tests must fail then.
module Mutations
  COPY = "tmp/mutations"
  RUN = "require File.expand_path(ARGV.shift) while ARGV.any?"

  module_function

  # Copies the files that Git knows, and what was built from them.
  def copy
    FileUtils.rm_rf(COPY)
    built = Dir["lib/pelton/pelton.*", "tmp/*-linux*/pelton/**/*", "tmp/setup-*.stamp", "Gemfile.lock", ".bundle/config"].select { |path| File.file?(path) }
    (`git ls-files -z`.split("\0") | built).select { |path| File.file?(path) }.each do |path|
      FileUtils.mkdir_p(File.dirname(File.join(COPY, path)))
      FileUtils.cp(path, File.join(COPY, path), preserve: true)
    end
  end

  # @return [Boolean] whether the tests of a fault pass in the copy
  def pass?(fault)
    return in_copy("make", "--silent", "-C", "test/core", "check", "NAMES=#{fault["core"]}") if fault["core"]
    compile && in_copy("bundle", "exec", "ruby", "-W0", "-Itest", "-e", RUN, *fault["ruby"].split)
  end

  # Before each run: the fault before this one may have been compiled.
  def compile = in_copy("bundle", "exec", "rake", "--silent", "compile")

  def in_copy(*command) = system({"BUNDLE_GEMFILE" => nil}, "timeout", "180", *command, chdir: COPY, out: File.join(Dir.pwd, COPY, "log"), err: %i[child out])

  # Yields while the fault is in the copy.
  def seeded(fault)
    path = File.join(COPY, fault["file"])
    text = File.read(path)
    File.write(path, text.sub(fault["old"]) { fault["new"] })
    yield
  ensure
    File.write(path, text)
  end

  # @return [String] what became of the fault
  def outcome(fault)
    return "not tried: its text is not there once" unless File.file?(fault["file"]) && File.read(fault["file"]).scan(fault["old"]).size == 1
    return "not tried: the tests fail without it" unless pass?(fault)
    seeded(fault) do
      next "not tried: it does not compile" unless fault["core"] || compile
      pass?(fault) ? "MISSED" : "caught"
    end
  end
end

desc "Seed 30 faults one after the other (ONLY=pattern of a file's name); each must make tests fail: some minutes"
task mutations: :compile do
  faults = YAML.load_file(File.expand_path("mutations/faults.yml", __dir__)).select { |fault| fault["file"].match?(ENV["ONLY"].to_s) }
  Mutations.copy
  outcomes = faults.map do |fault|
    Mutations.outcome(fault).tap { |outcome| puts "#{outcome}: #{fault["file"]}: #{fault["old"]} -> #{fault["new"]}" }
  end
  puts "#{outcomes.count("caught")} of #{faults.size} faults caught"
  abort unless outcomes.all?("caught")
end
