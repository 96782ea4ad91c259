# frozen_string_literal: true

require "test_helper"
require "pelton"

# In a separate Ruby, as what tasks inherit is for all of them.
class RailsCurrentAttributesTest < PeltonTest
  def test_tasks_have_a_copy
    folders =
      $LOAD_PATH.grep(
        /activesupport|concurrent|i18n|tzinfo|pelton-rails|base64|bigdecimal|connection_pool|securerandom|logger|drb|mutex_m|benchmark/
      ).flat_map do |folder|
        ["-I", folder]
      end
    assert_equal %(["a", "b", "a", nil]\n), ruby_output(<<~RUBY, options: folders)
      require "pelton/rails/current_attributes"
      ActiveSupport::IsolatedExecutionState.isolation_level = :fiber
      class Current < ActiveSupport::CurrentAttributes
        attribute :tenant
      end
      Pelton.run do
        other = nil
        Pelton.spawn do
          Current.tenant = "a"
          inner = Pelton.spawn { [Current.tenant, Current.tenant = "b"] }.await
          other = [*inner, Current.tenant]
          Current.reset
        end.await
        p [*other, Pelton.spawn { Current.tenant }.await]
      end
    RUBY
  end
end
