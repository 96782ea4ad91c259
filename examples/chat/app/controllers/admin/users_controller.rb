# frozen_string_literal: true

module Admin
  class UsersController < BaseController
    def index
      @users = paginate(User.not_bot.order(:name, :id), limit: 50)
    end

    # One change at a time, by its button.
    def update
      user = User.with_pk!(params.integer(:id))
      raise Pelton::Web::Forbidden, "Let another administrator do this." if user.id == current_user.id
      case params.enum(:change, %w[deactivate activate promote demote])
      when "deactivate" then user.active = false
      when "activate" then user.active = true
      when "promote" then user.admin!
      when "demote" then user.member!
      end
      user.save_changes
      redirect_to admin_users_path, notice: "#{user.name} is changed."
    end
  end
end
