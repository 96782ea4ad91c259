# frozen_string_literal: true

require "test_helper"
require "pelton/lab"

# The declaration; the experiment runs in test/integration/lab_web_test.rb.
class LabWebExperimentTest < PeltonTest
  def setup
    @experiment = Pelton::Lab.load(Pelton::Lab.shipped.fetch("web")).first
  end

  # In the targets' texts.
  def test_a_share_of_requests_is_the_inverse_of_the_time
    targets = @experiment.races.flat_map(&:targets).select { |target| target.what.match?(/\(0\.\d/) }

    assert_equal 4, targets.size
    targets.each { |target| assert_in_delta 1, target.limit * target.what[/\((0\.\d+)/, 1].to_f, 1e-9, target.what }
  end

  def test_the_page_is_measured_beside_its_peers
    assert_equal ["Roda, erubi, Puma", "Web, nothing cached", "Web, fragments", "Rails, Puma", "nginx, gzip on"], @experiment.find("40 messages").contenders.map(&:name)
  end

  def test_it_is_run_only_when_named
    assert_predicate @experiment, :only_when_named?
  end
end
