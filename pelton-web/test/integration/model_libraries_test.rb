# frozen_string_literal: true

require "json"
require "test_helper"

# Models of Sequel and of ActiveRecord in forms, JSON, pages, paths, uploads and errors: both libraries as they are.
class WebModelLibrariesTest < PeltonTest
  self.deadline = 60

  PROGRAM = File.read(File.expand_path("../support/model_program.rb", __dir__))

  def test_sequel
    check("sequel")
  end

  def test_active_record
    check("active_record")
  end

  private

  def check(library)
    output, errors, status = run_ruby(PROGRAM, library, gems: true)
    skip "#{library} or sqlite3 is not installed" if status.exitstatus == 3
    assert_predicate status, :success?, errors
    @responses = output.lines.map { |line| JSON.parse(line) }
    check_reading(*@responses.first(3))
    check_mistakes(*@responses[3, 2])
    check_the_rest(*@responses.last(4))
  end

  def check_reading(one, missing, list)
    assert_equal 200, one.first
    assert_equal({"id" => 1, "title" => "one", "stars" => nil}, JSON.parse(one.last))
    assert_equal 404, missing.first
    assert_equal({"title" => "Not Found", "status" => 404}, JSON.parse(missing.last))
    assert_equal({"posts" => [{"id" => 3, "title" => "three", "stars" => nil}], "path" => "/posts/1"},
      JSON.parse(list.last))
  end

  def check_mistakes(raised, form)
    problem = JSON.parse(raised.last)

    assert_equal 422, raised.first
    assert_equal [{"name" => "title", "detail" => "is missing"}], problem["errors"]
    assert_match(/\Atitle is missing\z/i, problem["detail"])
    assert_equal 422, form.first
    assert_includes form.last, '<input type="text" name="post[title]" id="post_title" aria-invalid="true" ' \
      'aria-describedby="post_title_error" value=""><span class="error" id="post_title_error">is missing</span>'
    refute_includes form.last, "_method"
  end

  def check_the_rest(created, edited, file, locked)
    assert_equal [303, "/posts/4"], created.values_at(0, 2)
    assert_includes edited.last, '<input type="hidden" name="_method" value="patch">'
    assert_equal [200, "bytes"], file.values_at(0, 3)
    assert_equal [503, "1"], locked.first(2)
  end
end
