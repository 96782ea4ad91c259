# frozen_string_literal: true

require_relative "../test_helper"

# What tests share is in test/support.
class SupportTest < PeltonTest
  FOLDERS = [ROOT, *Dir["#{ROOT}/pelton-*"]].map { |folder| "#{folder}/test" }

  # Whether another file of the same process has loaded a module depends on which files run together.
  def test_each_test_requires_the_modules_that_it_includes
    owners = FOLDERS.flat_map { |folder| Dir["#{folder}/support/**/*.rb"] }.each_with_object({}) do |file, found|
      File.read(file).scan(/^(?:module|class) ([A-Z]\w*)/) { |name,| (found[name] ||= []) << file }
    end
    missing = FOLDERS.flat_map { |folder| Dir["#{folder}/**/*_test.rb"] }.flat_map do |test|
      loaded = required(test)
      used = File.read(test).scan(/^\s*include (.+)/).flat_map { |names,| names.split(", ") }
      used.select { |name| owners.key?(name) && (owners[name] & loaded).empty? }.map do |name|
        "#{test.delete_prefix("#{ROOT}/")}: #{name}"
      end
    end

    assert_empty missing
    assert_operator owners.size, :>, 50
  end

  def test_the_readme_names_what_is_there
    folder = "#{ROOT}/test/support"
    links = File.read("#{folder}/README.md").scan(/\[(\w+)\]\((\w[^)]*\.rb)\)/)
    wrong = links.reject do |name, path|
      File.file?("#{folder}/#{path}") && File.read("#{folder}/#{path}").match?(/^(?:module|class) #{name}\b/)
    end

    assert_empty wrong
    assert_operator links.size, :>, 30
  end

  # Files that run together would share the class, with its `setup`.
  def test_each_class_of_tests_is_in_one_file
    files = FOLDERS.flat_map { |folder| Dir["#{folder}/**/*_test.rb"] }.group_by do |test|
      File.read(test)[/^class (\w+Test)\b/, 1]
    end

    assert_empty files.select { |name, tests| name && tests.size > 1 }
  end

  # Minitest passes over them.
  def test_no_test_is_private
    tests = FOLDERS.flat_map { |folder| Dir["#{folder}/**/*_test.rb"] }
    assert_empty tests.flat_map { |test|
      File.read(test).scan(/^  private$.*?^end/m).join.scan(/^  def (test_\w+)$/).map { |name,|
        "#{test.delete_prefix("#{ROOT}/")}: #{name}"
      }
    }
  end

  private

  # The files that a file requires, and those that these require.
  def required(file, found = [file])
    File.read(file).scan(/^\s*require(_relative)? "([^"#]+)"/) do |relative, name|
      roots = relative ? [File.dirname(file)] : FOLDERS
      path = roots.map { |root| File.expand_path("#{name}.rb", root) }.find { |one| File.exist?(one) }
      required(path, found << path) if path && !found.include?(path)
    end
    found
  end
end
